package server_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/value"
)

// TestStories plays each file in testdata/stories on a server of its own, by a clock that only moves where the story sleeps. Background
// work ends before the next request is sent.
//
//	WITH controllers=*,-namespace plugins=ServiceAccount clusterIPs=10.0.0.0/24      what is on, in the first block
//	IN /api/v1/namespaces/default      what paths begin with that have no slash in front
//	SLEEP 10s                          the clock moves
//	MERGE pods/a?dryRun=All            a request; MERGE, STRATEGIC, JSON and APPLY are patches, and headers may follow
//	< {"metadata":{"labels":null}}     its body
//	200 metadata.generation=2 uid:=metadata.uid
//
// The last lines of a block are the code and what to find in the answer. A path may go to an item by its number, by its type, name or
// manager in brackets, or to all of them by a star. A dash stands for what is absent, T+10s for a time since the story began, and
// what stands in quotes after the code for the whole message of a Status. What := gives a name is $uid from then on.
func TestStories(t *testing.T) {
	files, err := filepath.Glob("testdata/stories/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d stories: %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				blocks := strings.Split(strings.TrimSpace(string(text)), "\n\n")
				c := server.Config{Authenticate: asAdmin, RootCA: []byte("PEM")}
				if with, is := strings.CutPrefix(blocks[0], "WITH "); is {
					for word := range strings.FieldsSeq(with) {
						what, names, _ := strings.Cut(word, "=")
						switch what {
						case "clusterIPs":
							c.Services.ClusterIPRange = netip.MustParsePrefix(names)
							continue
						case "unprivileged":
							c.Unprivileged = true
							continue
						}
						*map[string]*[]string{"controllers": &c.Controllers, "plugins": &c.EnableAdmissionPlugins}[what] = strings.Split(names, ",")
					}
					blocks = blocks[1:]
				}
				s := &story{server: servertest.New(t, c), began: time.Now(), known: map[string]string{}}
				synctest.Wait()
				for _, block := range blocks {
					s.play(t, block)
				}
			})
		})
	}
}

// story is a server and what is known of it so far.
type story struct {
	server http.Handler
	base   string // of paths
	began  time.Time
	known  map[string]string
}

// patchTypes are the words that stories have for patches.
var patchTypes = map[string]string{
	"MERGE": servertest.MergePatch, "STRATEGIC": servertest.StrategicPatch, "JSON": servertest.JSONPatch, "APPLY": servertest.ApplyPatch,
}

// play plays a block.
func (s *story) play(t *testing.T, block string) {
	t.Helper()
	lines := slices.DeleteFunc(strings.Split(block, "\n"), func(line string) bool { return strings.HasPrefix(line, "#") })
	if len(lines) == 0 {
		return
	}
	verb, rest, _ := strings.Cut(lines[0], " ")
	switch verb {
	case "IN":
		s.base = rest + "/"
		return
	case "SLEEP":
		pause, err := time.ParseDuration(rest)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(pause)
		return
	}
	if !strings.HasPrefix(rest, "/") {
		rest = s.base + rest
	}
	request := verb + " " + rest
	if media := patchTypes[verb]; media != "" {
		request = "PATCH " + rest + media
	}
	var body, want string
	var warnings []string
	for _, line := range lines[1:] {
		if sent, is := strings.CutPrefix(line, "< "); is {
			body += sent
		} else if warning, is := strings.CutPrefix(line, "! "); is {
			warnings = append(warnings, warning)
		} else {
			want += strings.TrimSpace(line) + " "
		}
	}
	request, body = s.filled(request), s.filled(body)
	w := servertest.Ask(s.server, request, body)
	synctest.Wait()
	wrong := s.compare(w, strings.TrimSpace(want))
	if got := warningsOf(w); !slices.Equal(got, warnings) {
		wrong = append(wrong, fmt.Sprintf("the warnings are %q and not %q", got, warnings))
	}
	if len(wrong) > 0 {
		t.Errorf("%s\n< %s\n%s\nof %d %s", request, body, strings.Join(wrong, "\n"), w.Code, w.Body)
	}
}

// reference is the name of something that a story knows.
var reference = regexp.MustCompile(`\$[a-z]+`)

// filled returns a text with what is known in place of its names.
func (s *story) filled(text string) string {
	return reference.ReplaceAllStringFunc(text, func(name string) string {
		if known, is := s.known[name[1:]]; is {
			return known
		}
		return name
	})
}

// compare returns what is wrong with an answer.
func (s *story) compare(w *httptest.ResponseRecorder, want string) (wrong []string) {
	code, want, _ := strings.Cut(want, " ")
	if code != strconv.Itoa(w.Code) {
		wrong = append(wrong, "the code is not "+code)
	}
	if message, is := strings.CutPrefix(want, `"`); is {
		message = s.filled(strings.TrimSuffix(message, `"`))
		if got := strings.TrimSpace(servertest.Message(w)); got != message {
			wrong = append(wrong, fmt.Sprintf("the message is     %s\ninstead of         %s", got, message))
		}
		return wrong
	}
	answer, err := answered(w.Body.String())
	if err != nil {
		return append(wrong, err.Error())
	}
	for claim := range strings.FieldsSeq(want) {
		if name, path, is := strings.Cut(claim, ":="); is {
			s.known[name] = s.shown(answer, path)
			continue
		}
		path, want, _ := strings.Cut(claim, "=")
		if got := s.shown(answer, path); got != s.filled(want) {
			wrong = append(wrong, fmt.Sprintf("%s is %s and not %s", path, got, want))
		}
	}
	return wrong
}

// answered returns a document, or the list of the events of a watch.
func answered(body string) (value.Value, error) {
	var documents []value.Value
	for line := range strings.Lines(body) {
		document, err := value.Parse([]byte(line))
		if err != nil {
			return document, err
		}
		documents = append(documents, document)
	}
	if len(documents) == 1 && documents[0].Get("object").IsAbsent() {
		return documents[0], nil
	}
	return value.List(documents...), nil
}

// shown returns what a path leads to as stories have it.
func (s *story) shown(v value.Value, path string) string {
	for path != "" {
		var step string
		step, path, _ = strings.Cut(path, ".")
		if step == "*" {
			var all []string
			for item := range v.Items() {
				all = append(all, s.shown(item, path))
			}
			return strings.Join(all, ",")
		}
		name, key, isItem := strings.Cut(strings.TrimSuffix(step, "]"), "[")
		if name != "" {
			v = v.Get(name)
		}
		if isItem {
			v = itemOf(v, key)
		}
	}
	return s.text(v)
}

// itemOf returns the item of a list that has a number, or a type, a name or a manager.
func itemOf(list value.Value, key string) value.Value {
	if i, err := strconv.Atoi(key); err == nil && i < list.Len() {
		return list.Item(i)
	}
	for item := range list.Items() {
		if item.Get("type").Str() == key || item.Get("name").Str() == key || item.Get("manager").Str() == key {
			return item
		}
	}
	return value.Value{}
}

// text returns a value as stories have it: without quotes, spaces as underscores, lists with commas.
func (s *story) text(v value.Value) string {
	switch v.Kind() {
	case value.KindAbsent:
		return "-"
	case value.KindString:
		if moment, err := time.Parse(time.RFC3339Nano, v.Str()); err == nil {
			return "T+" + moment.Sub(s.began).String()
		}
		return strings.ReplaceAll(v.Str(), " ", "_")
	case value.KindList:
		var all []string
		for item := range v.Items() {
			all = append(all, s.text(item))
		}
		return strings.Join(all, ",")
	case value.KindObject:
		var all []string
		for name, member := range v.Members() {
			all = append(all, name+":"+s.text(member))
		}
		return "{" + strings.Join(all, ",") + "}"
	}
	return v.String()
}

// warningsOf returns the texts of the warnings of an answer.
func warningsOf(w *httptest.ResponseRecorder) []string {
	var out []string
	for _, header := range w.Header().Values("Warning") {
		text, err := strconv.Unquote(strings.TrimPrefix(header, "299 - "))
		if err != nil {
			text = header
		}
		out = append(out, text)
	}
	return out
}
