package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/internal/testing/recording"
	"github.com/deed-project/deed/value"
)

// TestServerRecordings runs the command for each recorded request of a kube-apiserver, with the stored object in a file. It compares the
// answer: the object, its managed fields, conflicts and refusals. Requests that are not run are counted by reason.
func TestServerRecordings(t *testing.T) {
	exceptions, err := recording.Exceptions("../../../docs/server-fields.md")
	if err != nil {
		t.Fatal(err)
	}
	p := &player{Tally: recording.NewTally(exceptions), dir: t.TempDir()}
	files, err := recording.ServerFiles("../../../schema/builtin/testdata/recordings", "../../../../shared/recordings/kube-apiserver", testing.Short())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files of recordings", len(files))
	for _, file := range files {
		p.playFile(t, file)
	}
	t.Logf("\n%v", p.Tally)
	for _, what := range []string{objects, owners, conflicts, refusals, refused, findings, plans} {
		if p.Compared(what) == 0 {
			t.Errorf("no %s were compared", what)
		}
	}
}

// The compared parts of an answer.
const (
	objects   = "objects"
	owners    = "managedFields"
	conflicts = "conflicts"
	refusals  = "refusals"
	findings  = "findings"
	plans     = "plans that change nothing"
	refused   = "refusals in other words" // the server decides on these before or after the write itself
)

// player runs the command for recorded requests.
type player struct {
	*recording.Tally
	dir string // holds the stored object
}

func (p *player) playFile(t *testing.T, file string) {
	histories, err := recording.ReadHistories(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range histories {
		for i, e := range h.Steps {
			r := &run{player: p, t: t, Exchange: e, kind: h.Kind, where: fmt.Sprintf("%s/%s step %d (%s)", filepath.Base(file), h.Name, i, e.Op)}
			r.play()
		}
	}
}

// run is the run of the command for one request.
type run struct {
	*player
	recording.Exchange
	t     *testing.T
	kind  string
	where string

	message string // of the response
	query   url.Values
	code    int // the exit code
	out     value.Value
	said    string // standard error
}

func (r *run) play() {
	r.message = r.Response.Get("message").Str()
	query, err := url.ParseQuery(r.Query)
	if err != nil {
		r.t.Fatal(err)
	}
	r.query = query
	if reason := r.leaves(); reason != "" {
		r.Leave(reason)
		return
	}
	args, body := r.command()
	if args == nil {
		return
	}
	r.run(args, body)
	r.compare()
}

// leaves returns why there is no command for the request, or "" if there is one.
func (r *run) leaves() string {
	switch {
	case r.Code < 300 && r.hasOddEntries():
		return "managed fields that are no objects, which deed refuses"
	case r.Op == "delete":
		return "deletion: deed has none"
	case r.query.Get("dryRun") == "Some", r.query.Get("fieldValidation") == "Loud", r.Op == "odd-merge":
		return "parameters of the request that deed does not have"
	case r.Code == 404 && r.subresource() == "":
		return "404: deed update creates what is not stored, as kubectl create does, and deed patches nothing"
	case r.isPatch() && r.Code >= 300:
		return "patches that the server refuses: deed has no patches, and what they make of an object is not known"
	case strings.Contains(r.message, "undeterminable: name must be provided"):
		return "an apply that creates what it does not name: deed takes the name from --name"
	case strings.Contains(r.message, "must be specified for an update"):
		return "an update without a resource version: kubectl replace sends that of the live object"
	}
	return ""
}

// hasOddEntries reports whether the request body has managed fields that are no objects.
func (r *run) hasOddEntries() bool {
	for entry := range r.Body.Get("metadata", "managedFields").Items() {
		if entry.Kind() != value.KindObject {
			return true
		}
	}
	return false
}

func (r *run) isPatch() bool {
	return r.Op == "merge" || r.Op == "jsonpatch" || r.Op == "smp" || r.Op == "status-merge" || r.Op == "scale-merge"
}

func (r *run) subresource() string {
	parts := strings.Split(strings.Trim(r.Path, "/"), "/")
	for _, name := range []string{"status", "scale"} {
		if parts[len(parts)-1] == name {
			return name
		}
	}
	return ""
}

// command returns the arguments and the standard input for the request, or nil if there is no command.
func (r *run) command() (args []string, body []byte) {
	body = r.Sent()
	args = []string{"update", "--validate=ignore"}
	if r.isPatch() {
		patched, known := r.Patched()
		if !known {
			r.Leave("strategic merge patches of more than labels and annotations")
			return nil, nil
		}
		body = patched.AppendJSON(nil)
	}
	if strings.HasSuffix(r.Op, "apply") {
		args = []string{"apply"}
		if r.query.Get("force") == "true" {
			args = append(args, "--force-conflicts")
		}
	}
	args = append(args, "-o", "json", "-f", "-", "--field-manager", r.manager())
	if name := r.subresource(); name != "" {
		args = append(args, "--subresource", name)
	}
	namespace, name := r.target()
	if namespace != "" {
		args = append(args, "-n", namespace)
	}
	if name != "" {
		args = append(args, "--name", name)
	}
	if r.Exists() {
		file := filepath.Join(r.dir, "live.json")
		if err := os.WriteFile(file, r.Live.AppendJSON(nil), 0o600); err != nil {
			r.t.Fatal(err)
		}
		args = append(args, "--live", file)
	}
	return args, body
}

// manager returns the field manager of the request, or else the name of the program that sends it.
func (r *run) manager() string {
	name := r.query.Get("fieldManager")
	if name == "" && !strings.HasSuffix(r.Op, "apply") {
		if name, _, _ = strings.Cut(r.UserAgent, "/"); name == "" {
			name = "unknown"
		}
	}
	return name
}

// target returns the namespace and the name in the path of the request; absent ones are empty.
func (r *run) target() (namespace, name string) {
	parts := strings.Split(strings.Trim(r.Path, "/"), "/")
	parts = parts[2:] // removes api and v1, or apis and the group
	if strings.HasPrefix(r.Path, "/apis/") {
		parts = parts[1:]
	}
	if parts[0] == "namespaces" && len(parts) > 2 && parts[2] != "status" && parts[2] != "finalize" {
		namespace, parts = parts[1], parts[2:]
	}
	if len(parts) > 1 {
		name = parts[1]
	}
	return namespace, name
}

// run runs the command at the time of the answer. It shows secrets, as the server does.
func (r *run) run(args []string, body []byte) {
	r.t.Setenv(epochVariable, strconv.FormatInt(max(0, r.Time().Unix()), 10))
	var out, said bytes.Buffer
	r.code = Run(append(args, "--show-secrets"), bytes.NewReader(body), &out, &said)
	r.said = said.String()
	if out.Len() > 0 {
		var err error
		if r.out, err = value.Parse(out.Bytes()); err != nil {
			r.t.Fatalf("%s: %v", r.where, err)
		}
	}
	if r.code == notice.ExitInternal {
		r.t.Errorf("%s: deed %q failed: %s", r.where, args, r.said)
	}
}

// compare compares the output of the command with the answer of the server.
func (r *run) compare() {
	switch {
	case r.Code < 300:
		r.compareObject()
	case r.isUnreadable():
		r.same(refused, "refused", r.outcome())
	case strings.HasPrefix(r.message, "Apply failed"):
		if strings.Contains(r.Live.String(), `"opaque"`) && strings.HasSuffix(r.message, ".spec.config") {
			r.Allow("managed fields of JSON that is kept as text")
			return
		}
		got := r.out.Get("message").Str()
		if got == "" {
			got = r.said
		}
		r.same(conflicts, recording.SortedLines(r.message), recording.SortedLines(got))
	case strings.Contains(r.message, "strict decoding error"):
		r.Leave("refused for fields that the type does not have, as the request asked for: deed validate finds them")
	case r.Code == 500, strings.Contains(r.message, "cannot be handled as"):
		namespace, name := r.target() // the body lacks both, but deed gets them as flags
		want := strings.Replace(r.message, "object (/", "object ("+namespace+"/", 1)
		if namespace == "" {
			want = r.message
		}
		want = strings.Replace(want, "object ("+namespace+"/;", "object ("+namespace+"/"+name+";", 1)
		r.same(refusals, want, r.out.Get("message").Str())
	case r.Code == 422 && !r.isRequest():
		r.compareFindings()
	default:
		r.same(refused, "refused", r.outcome())
	}
}

// isRequest reports whether the server refuses the request itself and not the object.
func (r *run) isRequest() bool {
	return strings.HasPrefix(r.message, "PatchOptions") || strings.Contains(r.message, "metadata.uid: Invalid value")
}

// isUnreadable reports whether deed refuses the body while it reads it, because of the name, the namespace or invalid managed fields. The
// server looks for conflicts and types first.
func (r *run) isUnreadable() bool {
	return strings.Contains(r.said, "that of --name") || strings.Contains(r.message, ".metadata.namespace: expected") ||
		strings.Contains(r.message, "ManagedFieldsEntry.metadata.managedFields")
}

// outcome describes the result of the request: it was refused, or an object was stored.
func (r *run) outcome() string {
	if r.code == 0 || r.out.Get("kind").Str() == r.kind {
		return "stored: " + r.out.String()
	}
	return "refused"
}

// compareFindings checks that the server, which has refused the request, gave every reason that deed finds. The reasons come from a plan of
// an apply, or from a validation of the body of an update.
func (r *run) compareFindings() {
	args, body := r.command()
	list := "findings"
	if args[0] == "apply" {
		args[0] = "plan"
	} else {
		args = []string{"validate", "-o", "json", "-f", "-"}
	}
	r.out = value.Value{}
	r.run(args, body)
	found := r.out.Get(list)
	if args[0] == "plan" {
		found = r.out.Get("objects").Item(0).Get(list)
	}
	if found.Len() == 0 {
		r.Leave("422 by validation that deed does not have")
		return
	}
	for f := range found.Items() {
		if !r.says(f) {
			r.same(findings, r.message, f.String())
			return
		}
	}
	r.same(findings, "", "")
}

// says reports whether the server refuses the field of a finding for the same reason, with the same text. Findings of deed validate by the
// type alone are not compared. Neither are changes that the server shows as its Go types have them: see docs/divergences.md.
func (r *run) says(finding value.Value) bool {
	path, reason := finding.Get("path").Str(), finding.Get("reason").Str()
	if reason == "" { // a finding of deed validate
		_, reason, _ = strings.Cut(finding.Get("detail").Str(), ": ")
		reason, _, _ = strings.Cut(reason, " (the server's validation")
	}
	switch finding.Get("class").Str() {
	case types.RequiredClass, types.UnsupportedClass, types.InvalidClass, types.ForbiddenClass, types.ImmutableClass:
	default:
		return true
	}
	last := path[strings.LastIndex(path, ".")+1:]
	name := last + ": "
	if strings.HasSuffix(path, "]") || strings.Contains(r.message, "["+last+"]: ") { // in another notation in messages
		name = ""
	}
	empty := strings.Replace(reason, "null: ", "{}: ", 1) // known: an empty map is shown as an absent one
	if strings.Contains(r.message, name+reason) || strings.Contains(r.message, name+empty) {
		return true
	}
	head, _, shown := strings.Cut(reason, "{")
	before, _, _ := strings.Cut(head, "\n")
	after := reason[strings.LastIndex(reason, "}")+1:]
	return shown && strings.Contains(r.message, name+before) && (before != head || strings.Contains(r.message, "}"+after))
}

func (r *run) compareObject() {
	want := r.Response
	if r.subresource() == "scale" {
		if r.After.Kind() != value.KindObject || r.query.Has("dryRun") {
			r.Leave("a dry run of scale, whose answer is not what would be stored")
			return
		}
		want = r.After
	}
	if r.code != 0 {
		r.same(objects, "stored", r.said)
		return
	}
	if r.Keeps() {
		r.Allow("managed fields of JSON that is kept as text")
		return
	}
	r.same(owners, recording.Owners(want), recording.Owners(r.out))
	bare := func(v value.Value) value.Value {
		return v.With("metadata", v.Get("metadata").With("managedFields", value.Value{}))
	}
	a, b := r.Stripped(r.kind, bare(want), bare(r.out))
	r.same(objects, a.String(), b.String())
	if strings.HasSuffix(r.Op, "apply") && r.Exists() && r.subresource() == "" && a.Equal(b) {
		same := bare(want).Equal(bare(r.Live)) && recording.Owners(want) == recording.Owners(r.Live)
		r.comparePlan(same)
	}
}

// comparePlan checks that the plan of a successful apply says that nothing changes exactly if nothing did.
func (r *run) comparePlan(same bool) {
	args, body := r.command()
	args[0] = "plan"
	r.out = value.Value{}
	r.run(args, body)
	r.same(plans, fmt.Sprint(same), fmt.Sprint(r.out.Get("objects").Item(0).Get("noOp").Bool()))
}

func (r *run) same(what, want, got string) {
	if !r.Same(what, r.kind, want, got) {
		r.t.Errorf("%s: %s differ (-server +deed)\n%s", r.where, what, cmp.Diff(readable(want), readable(got)))
	}
}

// readable breaks JSON text at its members, so that differences are readable.
func readable(text string) []string {
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(text), "", " "); err != nil {
		return strings.Split(text, "\n")
	}
	return strings.Split(out.String(), "\n")
}
