package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/deed-project/deed/internal/testing/recording"
	"github.com/deed-project/deed/oracle/pair"
	"github.com/deed-project/deed/value"
)

// predictor asks the command line for the outcome of writes that a kube-apiserver has answered.
type predictor struct {
	program    string
	dir        string                // of temporary files
	exceptions []recording.Exception // what only a server knows

	mu       sync.Mutex
	compared int
	missed   map[string]*missed // by kind and code
}

// missed are refusals that the command line does not predict.
type missed struct {
	count   int
	example string // the first one and its reason
}

// newPredictor returns a predictor that runs program. page is the file docs/server-fields.md. The caller must call close.
func newPredictor(program, page string) (*predictor, error) {
	exceptions, err := recording.Exceptions(page)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "predict")
	return &predictor{program: program, dir: dir, exceptions: append(exceptions, further...), missed: map[string]*missed{}}, err
}

// further holds the exceptions that the page lacks: a link that only dry runs show, and the user of a request.
var further = []recording.Exception{
	{Kind: "any", Path: []string{"metadata", "selfLink"}},
	{Kind: "CertificateSigningRequest", Path: []string{"spec", "username"}},
	{Kind: "CertificateSigningRequest", Path: []string{"spec", "uid"}},
	{Kind: "CertificateSigningRequest", Path: []string{"spec", "groups"}},
	{Kind: "CertificateSigningRequest", Path: []string{"spec", "extra"}},
}

func (p *predictor) close() { os.RemoveAll(p.dir) }

// String says how many writes were predicted, and which refusals were not.
func (p *predictor) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%d writes predicted; %d kinds of refusals that were not:", p.compared, len(p.missed))
	for _, what := range slices.Sorted(maps.Keys(p.missed)) {
		fmt.Fprintf(&out, "\n%6d %s, such as: %s", p.missed[what].count, what, p.missed[what].example)
	}
	return out.String()
}

// miss counts the refusal of a write that the command line does not predict. what says the kind of refusal.
func (p *predictor) miss(what string, o outcome, reason string) {
	m := p.missed[what]
	if m == nil {
		m = &missed{example: fmt.Sprintf("%s %s: %s", o.op, o.request.Path, inOneLine(reason))}
		p.missed[what] = m
	}
	m.count++
}

// exitRefused is the exit code of deed for a conflict and for an object that is refused.
const exitRefused = 1

// prediction is what the command line prints.
type prediction struct {
	code int
	out  value.Value
	said string
}

// compare predicts a write of h, and returns how the prediction differs from what came of it. A write that the command line cannot make has no
// prediction, and no differences.
func (p *predictor) compare(h *history, o outcome) (differences []string, err error) {
	note := func(format string, a ...any) {
		differences = append(differences, "predicted: "+fmt.Sprintf(format, a...))
	}
	args := p.command(o, h.kind.namespace)
	if args == nil {
		return nil, nil
	}
	got, err := p.run(h, o, args)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.compared++
	refused := got.code == exitRefused
	switch a := o.answer; {
	case got.code > exitRefused && a.Code < 400: // such as for another namespace than that of the flag
		note("exit code %d: %s", got.code, got.said)
	case a.Code < 300 && refused:
		note("%d there, refused here: %s", a.Code, got.said)
	case a.Code < 300 && strings.Contains(a.Message, keptOn) && !strings.Contains(got.said, "kubectl warns"):
		p.miss(h.kind.name+" in a migration", o, a.Message)
	case a.Code < 300:
		p.compareObjects(o, got.out, note)
		if o.request.Method != byKubectl { // which prints warnings among its own
			compareWarnings(a.Warnings, got.said, note)
		}
	case strings.HasPrefix(a.Message, conflictPrefix):
		if said := got.out.Get("message").Str(); recording.SortedLines(a.Message) != recording.SortedLines(said) {
			note("%s there, %s here", a.Message, cmp.Or(said, got.said, "stored"))
		}
	case a.Code == http.StatusUnprocessableEntity && strings.Contains(a.Message, noVersion):
	case a.Code == http.StatusUnprocessableEntity && refused:
		p.compareReasons(h.kind.name, o, got.said, note)
	case a.Code == http.StatusNotFound && o.op == "update": // deed update creates what is missing
	case got.code == 0:
		p.miss(fmt.Sprint(h.kind.name, " ", a.Code), o, a.Message)
	}
	return differences, nil
}

// noVersion is the reason why a kube-apiserver refuses an update that kubectl would have completed.
const noVersion = "metadata.resourceVersion: Invalid value: 0: must be specified for an update"

// command returns the arguments for a write in a namespace, which is empty for kinds without one. It returns nil if the command line does not
// have such a write.
func (p *predictor) command(o outcome, namespace string) (args []string) {
	verb, q := o.op, o.request
	if q.Method == byKubectl {
		return commandOf(o)
	}
	subresource, isBelow := "", strings.Contains(o.op, " ")
	if isBelow {
		subresource, verb, _ = strings.Cut(o.op, " ")
	}
	u, err := url.Parse(q.Path)
	body, isObject := q.Body.(map[string]any)
	if err != nil || !isObject || q.Accept != "" || o.answer.Code == 0 { // an answer in another form lacks the types of embedded objects
		return nil
	}
	query := u.Query()
	switch {
	case verb == "apply":
		args = []string{"apply", "--no-migration"}
		if query.Get("force") == "true" {
			args = append(args, "--force-conflicts")
		}
	case verb == "create" && o.before == nil, verb == "update":
		args = []string{"update", "--validate=" + strings.ToLower(cmp.Or(query.Get("fieldValidation"), "warn"))}
	default:
		return nil
	}
	if pair.Get(o.before, "spec", "type") == "ExternalName" { // may have a traffic policy that no server shows
		return nil
	}
	if subresource == "scale" && query.Has("dryRun") || isEnding(o.before) || o.before != nil && o.after == nil {
		return nil
	}
	agent, _, _ := strings.Cut(cmp.Or(q.UserAgent, "pair/1"), "/")
	args = append(args, "-f", "-", "-o", "json", "--show-secrets", "--field-manager", cmp.Or(query.Get("fieldManager"), agent))
	if subresource != "" {
		args = append(args, "--subresource", subresource)
	}
	metadata, _ := body["metadata"].(map[string]any)
	if name, _ := metadata["name"].(string); name == "" {
		if q.Method == http.MethodPost {
			return nil
		}
		args = append(args, "--name", path.Base(strings.TrimSuffix(u.Path, "/"+subresource)))
	}
	switch given, has := metadata["namespace"]; {
	case has && given != namespace: // the request contradicts itself, or has a null that the flag would replace
		return nil
	case namespace != "":
		args = append(args, "-n", namespace)
	}
	return args
}

// record is the annotation in which kubectl records what it applied.
const record = "kubectl.kubernetes.io/last-applied-configuration"

// commandOf returns the arguments for a write by kubectl, or nil. The command line has the flags of kubectl apply --server-side, and no record of
// client-side apply.
func commandOf(o outcome) []string {
	args := append(strings.Fields(o.request.Path), "-f", "-", "-o", "json", "--show-secrets")
	switch {
	case isEnding(o.before) || o.before != nil && o.after == nil:
		return nil
	case slices.Contains(args, "--server-side"):
		return append(args, "--migration")
	case !slices.Contains(args, "--save-config=false") || pair.Get(o.request.Body, "metadata", "annotations", record) != nil:
		return nil // kubectl then writes its record
	}
	args = slices.DeleteFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "--save-config") })
	if !slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "--validate=") }) {
		args = append(args, "--validate=strict")
	}
	manager := "kubectl-" + args[0] // create or replace
	args[0] = "update"
	return append(args, "--field-manager", manager)
}

// run runs the command line with the object of a write, at the time of the answer.
func (p *predictor) run(h *history, o outcome, args []string) (prediction, error) {
	given := func(flag string, object any) error {
		name := filepath.Join(p.dir, h.kind.name+flag+".json")
		args = append(args, flag, name)
		return os.WriteFile(name, []byte(pair.Text(object)), 0o600)
	}
	if o.before != nil {
		if err := given("--live", o.before); err != nil {
			return prediction{}, err
		}
	}
	if h.kind.defined != nil {
		if err := given("--crd", h.kind.defined); err != nil {
			return prediction{}, err
		}
	}
	var out, said bytes.Buffer
	cmd := exec.Command(p.program, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(pair.Text(o.request.Body)), &out, &said
	cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH="+strconv.FormatInt(timeOf(o).Unix(), 10))
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		return prediction{}, err
	}
	got := prediction{code: cmd.ProcessState.ExitCode(), said: said.String()}
	if out.Len() == 0 {
		return got, nil
	}
	var err error
	got.out, err = value.Parse(out.Bytes())
	return got, err
}

// stored returns the object that a write has stored, or would have stored without a dry run.
func stored(o outcome) map[string]any {
	if strings.Contains(o.request.Path, "dryRun=All") {
		return o.answer.Object
	}
	return o.after
}

// timeOf returns the time at which a write was stored: the latest one in the managed fields.
func timeOf(o outcome) time.Time {
	var last time.Time
	entries, _ := pair.Get(stored(o), "metadata", "managedFields").([]any)
	for _, e := range entries {
		text, _ := pair.Get(e, "time").(string)
		if t, err := time.Parse(time.RFC3339, text); err == nil && t.After(last) {
			last = t
		}
	}
	if last.IsZero() {
		return time.Now()
	}
	return last
}

// compareObjects compares the object that a write has stored with the predicted one, without what only a server knows.
func (p *predictor) compareObjects(o outcome, got value.Value, note func(string, ...any)) {
	want, err := value.Parse([]byte(pair.Text(stored(o))))
	live := value.Value{}
	if err == nil && o.before != nil {
		live, err = value.Parse([]byte(pair.Text(o.before)))
	}
	if err != nil {
		note("%v", err)
		return
	}
	kind := want.Get("kind").Str()
	// The generation follows from the whole specification. A server may complete that in its own way, and whether autoscaling/v2, which is stored,
	// lacks a default does not show in autoscaling/v1.
	if !want.Get("spec").Equal(got.Get("spec")) || want.Get("apiVersion").Str() == "autoscaling/v1" {
		e := recording.Exception{Kind: kind, Path: []string{"metadata", "generation"}}
		want, got = e.Without(want), e.Without(got)
	}
	for _, e := range p.exceptions {
		if e.Of(kind) && !keeps(e, live, want) {
			want, got = e.Without(want), e.Without(got)
		}
	}
	pair.Differ(want.ToAny(), got.ToAny(), kind, note)
}

// keeps reports whether a write left the part that e names as it was in live. A server allocates addresses and ports of Services once.
func keeps(e recording.Exception, live, want value.Value) bool {
	return e.Kind == "Service" && part(want, e.Path).Equal(part(live, e.Path))
}

// part returns what a path of an exception leads to. Behind *, it is the list of what it leads to in each item; 0 stands for nothing.
func part(v value.Value, path []string) value.Value {
	switch {
	case len(path) == 0 && v.IsAbsent():
		return value.Int(0)
	case len(path) == 0:
		return v
	case path[0] != "*":
		return part(v.Get(path[0]), path[1:])
	}
	var items []value.Value
	for item := range v.Items() {
		items = append(items, part(item, path[1:]))
	}
	return value.List(items...)
}
