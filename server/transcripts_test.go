package server_test

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/value"
)

// TestTranscripts sends the requests of each file in testdata/transcripts to a server of its own, and compares what is answered with
// what a kube-apiserver answered: code, warnings and the whole body. With DEED_PEER it asks that one instead, and records what it says.
//
// Files whose names contain fairness are for servers with priority and fairness. An answer is then followed by the names of the FlowSchema
// and the priority level that its headers name by their UIDs, or by - for an empty UID.
//
// A first block WITH names admission plugins that are on beside the usual ones, or the range of the addresses of services. Files whose names
// begin with rbac are for servers whose roles decide, and rbac_nodes is also for the authorizer Node. Those of emulated-1.36.txt and others
// emulate a release. Files whose names begin with requested are for servers that serve all versions. Files whose names begin with cbor are for
// servers that read and write CBOR: see asCBOR. namespaces.txt was recorded beside the namespace controller of kube-controller-manager. A block
// SLEEP waits, a second or as long as it says, as caches of kube-apiserver need time.
//
// A block LET gives a name to what the last answer has at a path; $name is that from then on. CLAIMS prints what a token says, with times in
// seconds from its beginning. The word AS=TOKEN of a request is the bearer token.
//
// A block AUDIT prints the events of the audit log since the last one, without addresses and user agents. The first one prints nothing. Files whose
// names contain audit are for servers with an audit log by the policy of testdata/audit.yaml. DEED_PEER_AUDIT names the log of the kube-apiserver.
//
// A block METRICS prints what the metrics have counted since the last one. The first one prints nothing.
//
// A block is a method and a path with headers, the body behind <, and the answer behind >. In it, members are sorted, and what differs
// from run to run is UID, TIME, AGE, VERSION and TOKEN.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/transcripts/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Error("there are no transcripts")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			if os.Getenv("DEED_PEER") != "" {
				playTranscript(t, file)
			} else {
				synctest.Test(t, func(t *testing.T) { playTranscript(t, file) }) // watches last a second
			}
		})
	}
}

func playTranscript(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(strings.TrimSpace(string(text)), "\n\n")
	name := filepath.Base(file)
	isFair := strings.Contains(name, "fairness")
	c := server.Config{PriorityAndFairness: isFair, Authenticate: asAdmin, RBAC: strings.HasPrefix(name, "rbac"), Nodes: strings.HasPrefix(name, "rbac_nodes")}
	c.CBOR = strings.HasPrefix(name, "cbor")
	if strings.HasPrefix(name, "requested") {
		c.RuntimeConfig = map[string]bool{"api/all": true}
	}
	if of, is := strings.CutPrefix(strings.TrimSuffix(name, ".txt"), "emulated-"); is {
		c.EmulatedVersion = of
	}
	switch with, is := strings.CutPrefix(blocks[0], "WITH "); {
	case is && strings.Contains(with, "/"):
		first, second, isDual := strings.Cut(with, ",")
		if c.Services.ClusterIPRange = netip.MustParsePrefix(first); isDual {
			c.Services.SecondClusterIPRange = netip.MustParsePrefix(second)
		}
	case is:
		c.EnableAdmissionPlugins = strings.Split(with, ",")
	}
	log := newAuditLog(t)
	if strings.Contains(name, "audit") {
		c.AuditLog = log.recorder
	}
	peer, s := os.Getenv("DEED_PEER"), servertest.New(t, c)
	if peer != "" {
		definePeer(t, func(request, body string) *httptest.ResponseRecorder { return askPeer(t, peer, request, body) })
	}
	known, flows := map[string]string{}, flowNames{"": "-"}
	filled := func(text string) string {
		return reference.ReplaceAllStringFunc(text, func(name string) string { return cmp.Or(known[name[1:]], name) })
	}
	var last string // answer
	var before counts
	for i, block := range blocks {
		request, rest, _ := strings.Cut(block, "\n")
		if name, path, is := strings.Cut(strings.TrimPrefix(request, "LET "), " "); is && strings.HasPrefix(request, "LET ") {
			if reference.FindString("$"+name) != "$"+name {
				t.Fatalf("%s: the name is not of small letters alone", request)
			}
			known[name] = textAt(t, last, path)
			continue
		}
		ask := func(request, body string) *httptest.ResponseRecorder { return servertest.Ask(s, request, body) }
		if peer != "" {
			ask = func(request, body string) *httptest.ResponseRecorder { return askPeer(t, peer, request, body) }
		}
		if request == "METRICS" {
			now, got := countsOf(ask), ""
			if before != nil {
				got = now.since(before)
			}
			before = now
			if blocks[i] = strings.TrimSpace(request + "\n" + got); peer == "" && got != rest {
				t.Errorf("%s\n got\n%s\nwant\n%s", blocks[i-1], got, rest)
			}
			continue
		}
		if request == "AUDIT" {
			got := log.since(t)
			if blocks[i] = strings.TrimSpace(request + "\n" + got); peer == "" && got != rest {
				t.Errorf("%s\n got\n%s\nwant\n%s", blocks[i-1], got, rest)
			}
			continue
		}
		if token, is := strings.CutPrefix(request, "CLAIMS "); is {
			got, want := "> "+claimsOf(t, filled(token)), rest
			if blocks[i] = request + "\n" + got; peer == "" && got != want {
				t.Errorf("%s\n got %s\nwant %s", request, got, want)
			}
			continue
		}
		if strings.HasPrefix(request, "#") || strings.HasPrefix(request, "WITH ") {
			continue
		}
		if pause, is := strings.CutPrefix(request, "SLEEP"); is {
			d, err := time.ParseDuration(cmp.Or(strings.TrimSpace(pause), "1s"))
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(d)
			continue
		}
		body, want := "", ""
		for line := range strings.SplitSeq(rest, "\n") {
			if sent, is := strings.CutPrefix(line, "< "); is {
				body = sent
			} else if answer, is := strings.CutPrefix(line, "> "); is {
				want = answer
			}
		}
		w := asJSON(t, ask(filled(request), asCBOR(t, request, filled(body))))
		last = w.Body.String()
		got := answerLine(w)
		if isFair {
			got += flows.shown(w, ask)
		}
		if peer != "" {
			blocks[i] = transcribed(request, body, got)
		} else if got != want {
			t.Errorf("%s\n   < %s\n got %s\nwant %s", request, body, got, want)
		}
	}
	if peer == "" {
		return
	}
	if err := os.WriteFile(file, []byte(strings.Join(blocks, "\n\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// textAt returns the text at a path of a document.
func textAt(t *testing.T, document, path string) string {
	t.Helper()
	v, err := value.Parse([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	at := v.Get(strings.Split(path, ".")...)
	if at.Str() == "" {
		t.Fatalf("nothing is at %s of %s", path, document)
	}
	return at.Str()
}

// claimsOf returns the claims of a token, with times in seconds from its beginning.
func claimsOf(t *testing.T, token string) string {
	t.Helper()
	parts := strings.Split(token, ".")
	var claims map[string]any
	text, err := base64.RawURLEncoding.DecodeString(parts[min(1, len(parts)-1)])
	if err == nil {
		err = json.Unmarshal(text, &claims)
	}
	if err != nil {
		t.Fatalf("%s: %v", token, err)
	}
	began, _ := claims["iat"].(float64)
	of, _ := claims["kubernetes.io"].(map[string]any)
	for _, m := range []map[string]any{claims, of} {
		for _, name := range []string{"iat", "nbf", "exp", "warnafter"} {
			if at, is := m[name].(float64); is {
				m[name] = at - began
			}
		}
	}
	sorted, err := json.Marshal(claims)
	if err != nil {
		panic(err) // it was JSON
	}
	line := string(sorted)
	for _, c := range changing {
		line = c.pattern.ReplaceAllString(line, c.shown)
	}
	return line
}

// asAdmin authenticates the user of the kube-apiserver that was asked, whose token is tok.
func asAdmin(r *http.Request) (auth.User, error) {
	if token := r.Header.Get("Authorization"); token != "" && token != "Bearer tok" {
		return auth.User{}, errors.New("no such token")
	}
	return auth.User{Name: "admin", UID: "1", Groups: []string{"system:masters", "system:authenticated"}}, nil
}

func transcribed(request, body, answer string) string {
	if body != "" {
		request += "\n< " + body
	}
	return request + "\n> " + answer
}

// flowNames are the names of FlowSchemas and priority levels by UID, also of those that are gone.
type flowNames map[string]string

// shown returns how a line shows the flow that an answer names, "" if the answer names none.
func (n flowNames) shown(w *httptest.ResponseRecorder, ask func(request, body string) *httptest.ResponseRecorder) string {
	schema, level := w.Header()["X-Kubernetes-Pf-Flowschema-Uid"], w.Header()["X-Kubernetes-Pf-Prioritylevel-Uid"]
	if len(schema) != 1 || len(level) != 1 {
		return strings.Repeat(" | several flows", len(schema)+len(level))
	}
	name := func(uid, plural string) string {
		if _, known := n[uid]; !known {
			list, _ := value.Parse(ask("GET /apis/flowcontrol.apiserver.k8s.io/v1/"+plural, "").Body.Bytes())
			for item := range list.Get("items").Items() {
				n[item.Get("metadata", "uid").Str()] = item.Get("metadata", "name").Str()
			}
		}
		return cmp.Or(n[uid], "unknown")
	}
	return " | flow " + name(schema[0], "flowschemas") + ", level " + name(level[0], "prioritylevelconfigurations")
}

// answerLine returns an answer in a line. A stream of documents has them in one line, too.
func answerLine(w *httptest.ResponseRecorder) string {
	text := sortedJSON(w.Body.String())
	if strings.HasPrefix(text, "{") {
		var events []string
		for event := range strings.Lines(text) {
			events = append(events, sortedJSON(event))
		}
		text = strings.Join(events, "\n")
	}
	text = strings.ReplaceAll(strings.TrimSpace(text), "\n", `\n`)
	for _, c := range changing {
		text = c.pattern.ReplaceAllString(text, c.shown)
	}
	line := fmt.Sprintf("%d %s", w.Code, text)
	for _, warning := range server.WarningsOfBoth(w.Header().Values("Warning")) {
		line += " | " + warning
	}
	return line
}

// sortedJSON returns a document with sorted members, and a text that is none as it is.
func sortedJSON(text string) string {
	var document any
	if err := json.Unmarshal([]byte(text), &document); err != nil {
		return text
	}
	if review, is := document.(map[string]any); is && review["kind"] == "SelfSubjectRulesReview" && review["status"] != nil {
		status := review["status"].(map[string]any)
		for _, name := range []string{"resourceRules", "nonResourceRules"} { // which kube-apiserver lists in the order of a map
			rules, _ := status[name].([]any)
			slices.SortFunc(rules, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
	}
	sorted, err := json.Marshal(document)
	if err != nil {
		panic(err) // it was JSON
	}
	return string(sorted)
}

// changing is what differs from run to run in answers.
var changing = []struct {
	pattern *regexp.Regexp
	shown   string
}{
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "UID"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "TIME"},
	{regexp.MustCompile(`(resourceVersion\\*":\\*")[1-9]\d*`), `${1}VERSION`}, // in quoted JSON, too
	{regexp.MustCompile(`"keys":\[[^]]*\]`), `"keys":[KEYS]`},
	{regexp.MustCompile(`"(RS|ES)256"`), `"ALGORITHM"`},
	{regexp.MustCompile(`"https://[^/"]*/openid`), `"https://HOST/openid`},
	{regexp.MustCompile(`eyJ[\w-]+\.[\w-]+\.[\w-]*`), "JWT"},
	{regexp.MustCompile(`"continue":"[^"]+"`), `"continue":"TOKEN"`},
	{regexp.MustCompile(`resourceVersion: "[1-9]\d*"`), `resourceVersion: "VERSION"`},
	{regexp.MustCompile(`"(\d+[smhd])+"\],"object"`), `"AGE"],"object"`},
	{regexp.MustCompile(`A_[a-z0-9]{5}`), `A_CHANCE`},
	{regexp.MustCompile(`in object meta: \d+`), `in object meta: VERSION`},
	{regexp.MustCompile(`in record \(\d+\)`), `in record (VERSION)`},
	{regexp.MustCompile(`allowed by [A-Za-z]+ \\"r-[^{}]*`), `allowed by BINDING"`},         // the first one in the order of a map
	{regexp.MustCompile(`"evaluationError":"\[[^\[\]]*\]"`), `"evaluationError":"[ROLES]"`}, // likewise
	{regexp.MustCompile(`RBAC: \[[^\[\]]*r-\d[^\[\]]*\]`), `RBAC: [ROLES]`},                 // likewise
}
