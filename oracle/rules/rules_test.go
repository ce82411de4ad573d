package rules

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/oracle/command"
	"github.com/deed-project/deed/oracle/histories"
	"github.com/deed-project/deed/oracle/peer"
	"github.com/deed-project/deed/value"
)

func TestMain(m *testing.M) { os.Exit(command.Main(m)) }

const scripts = "../../testdata/script/rules/*.txtar"

// TestRules plays the script of each rule on the reference. Every answer must equal the output of deed replay: the object with its entries,
// the conflicts, or an error.
func TestRules(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "946684800") // begin of the time in a bubble
	files, err := filepath.Glob(scripts)
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts in %s: %v", scripts, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			h, err := read(file)
			if err != nil {
				t.Fatal(err)
			}
			printed := replayed(t, file)
			synctest.Test(t, func(t *testing.T) { compare(t, h, printed) })
		})
	}
}

// printed is the output of deed replay for one step.
type printed struct {
	Result    string `json:"result"`
	Error     string `json:"error"`
	Conflicts []struct {
		Path   string `json:"path"`
		Owners []struct {
			Manager     string          `json:"manager"`
			Operation   merge.Operation `json:"operation"`
			APIVersion  string          `json:"apiVersion"`
			Subresource string          `json:"subresource"`
		} `json:"owners"`
	} `json:"conflicts"`
	Object json.RawMessage `json:"object"`
}

// replayed runs deed replay without defaults, because the reference is the field manager of a server, and not the whole server.
func replayed(t *testing.T, file string) []printed {
	t.Helper()
	out, err := command.Run("replay", "--no-defaults", "-f", file, "-o", "json")
	if err != nil {
		t.Fatal(err)
	}
	var steps struct {
		Steps []printed `json:"steps"`
	}
	if err := json.Unmarshal(out, &steps); err != nil {
		t.Fatal(err)
	}
	return steps.Steps
}

// compare plays h and compares each answer with the output.
func compare(t *testing.T, h *history, steps []printed) {
	if len(steps) != len(h.Steps) {
		t.Fatalf("deed replay did %d of %d steps", len(steps), len(h.Steps))
	}
	world, err := h.world()
	if err != nil {
		t.Fatal(err)
	}
	p := &histories.Player{World: world}
	for i, s := range h.Steps {
		if s.Operation == "extract" { // reads only
			continue
		}
		if !s.Time.IsZero() {
			time.Sleep(time.Until(s.Time))
		}
		body, err := s.body(p)
		if err != nil {
			t.Fatal(err)
		}
		verbs := []histories.Verb{s.verb()}
		if s.Force && len(steps[i].Conflicts) > 0 { // to see the conflicts without force first
			verbs = []histories.Verb{histories.Apply, histories.Force}
		}
		for _, verb := range verbs {
			live := p.Live
			answer := play(t, p, s, verb, body)
			stored := func(object value.Value) value.Value { return restored(object, live, s.Subresource) }
			if err := steps[i].differs(verb, answer, stored, h.crd == nil); err != nil {
				t.Errorf("step %d, %s: %v", i+1, s.Note, err)
			}
		}
		if err := p.Settle(stored(t, steps[i].Object)); err != nil {
			t.Fatal(err)
		}
	}
}

// stored returns the text of an object in the output as a server stores it: with a uid.
func stored(t *testing.T, object json.RawMessage) []byte {
	t.Helper()
	if len(object) == 0 {
		return nil
	}
	v, err := value.Parse(object)
	if err != nil {
		t.Fatal(err)
	}
	if metadata := v.Get("metadata"); metadata.Get("uid").IsAbsent() {
		v = v.With("metadata", metadata.With("uid", value.String(madeUp)))
	}
	return v.AppendJSON(nil)
}

// madeUp is the uid of objects whose history names none. The output has no such uid.
const madeUp = "made up"

// restored returns the answer of a field manager as a server stores it: an endpoint restores what it does not write.
func restored(object, live value.Value, subresource string) value.Value {
	metadata := object.Get("metadata")
	switch {
	case live.IsAbsent():
	case subresource == "status":
		fields := metadata.Get("managedFields")
		metadata = live.Get("metadata").With("managedFields", fields)
		object = live.With("status", object.Get("status"))
	default:
		object = object.With("status", live.Get("status"))
	}
	if metadata.Get("uid").Str() == madeUp {
		metadata = metadata.With("uid", value.Value{})
	}
	return object.With("metadata", metadata)
}

// body returns the body of the step.
func (s step) body(p *histories.Player) ([]byte, error) {
	if s.Patch == nil {
		return s.Object, nil
	}
	return jsonpatch.MergePatch(p.Live.AppendJSON(nil), s.Patch)
}

// play returns the answer of the reference, and checks that deed's field manager gives the same.
func play(t *testing.T, p *histories.Player, s step, verb histories.Verb, body []byte) (answer peer.Answer) {
	t.Helper()
	endpoint, err := s.endpoint(body)
	if err != nil {
		t.Fatal(err)
	}
	answered := false
	p.Observe = func(_ histories.Op, a peer.Answer) { answer, answered = a, true }
	diff, err := p.Play(histories.Op{Verb: verb, Endpoint: endpoint, Manager: s.Manager, Body: body})
	if err != nil {
		t.Fatal(err)
	}
	if diff != nil || !answered {
		t.Fatalf("%s: %v", s.Note, diff)
	}
	return answer
}

// differs returns the difference between the reference's answer to a write, as a server stores it, and the output. builtin says that only the
// metadata counts: the world of a built-in kind holds Go structs, and replay without defaults holds what was sent.
func (p printed) differs(verb histories.Verb, want peer.Answer, stored func(value.Value) value.Value, builtin bool) error {
	switch {
	case want.Conflict():
		return p.conflictsDiffer(want)
	case (want.Err != nil) != (p.Result == "refused"):
		return fmt.Errorf("the reference fails with %v, deed with %q", want.Err, p.Error)
	case want.Err != nil:
		return nil // the errors have been compared
	case verb == histories.Apply && len(p.Conflicts) > 0:
		return fmt.Errorf("the reference has no conflict, deed has %+v", p.Conflicts)
	}
	reference, err := value.Parse(want.Object)
	if err != nil {
		return err
	}
	ours, err := value.Parse(p.Object)
	if err != nil {
		return err
	}
	if reference = stored(reference); builtin {
		reference, ours = reference.Get("metadata"), ours.Get("metadata")
	}
	if !reference.Equal(ours) {
		return fmt.Errorf("reference\n%v\ndeed\n%v", reference, ours)
	}
	return nil
}

// conflictsDiffer compares conflicts by manager and path.
func (p printed) conflictsDiffer(want peer.Answer) error {
	var status metav1.Status
	if err := json.Unmarshal(want.Status, &status); err != nil {
		return err
	}
	var reference, ours []string
	for _, cause := range status.Details.Causes {
		reference = append(reference, cause.Message+": "+cause.Field)
	}
	for _, c := range p.Conflicts {
		for _, o := range c.Owners {
			m := merge.Manager{Name: o.Manager, Operation: o.Operation, APIVersion: o.APIVersion, Subresource: o.Subresource}
			ours = append(ours, fmt.Sprintf("conflict with %v: %s", m, c.Path))
		}
	}
	slices.Sort(reference)
	slices.Sort(ours)
	if !slices.Equal(reference, ours) {
		return fmt.Errorf("conflicts of the reference %q, of deed %q", reference, ours)
	}
	return nil
}
