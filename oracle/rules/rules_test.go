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

// replayed runs deed replay.
func replayed(t *testing.T, file string) []printed {
	t.Helper()
	out, err := command.Run("replay", "-f", file, "-o", "json")
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
	world, err := histories.Open("script", h.crd)
	if err != nil {
		t.Fatal(err)
	}
	p := &histories.Player{World: world}
	for i, s := range h.Steps {
		if s.Operation == "extract" { // reads only
			continue
		}
		if s.Subresource != "" && h.ResetFields == nil {
			t.Fatalf("step %d: the world resets fields, and the script does not say so", i+1)
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
			answer := play(t, p, s, verb, body)
			if err := steps[i].differs(verb, answer); err != nil {
				t.Errorf("step %d, %s: %v", i+1, s.Note, err)
			}
		}
	}
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

// differs returns the difference between the reference's answer to a write and the output.
func (p printed) differs(verb histories.Verb, want peer.Answer) error {
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
