package history

import (
	"bufio"
	"bytes"
	"fmt"
	"time"

	"github.com/deed-project/deed/cmd/internal/dryrun"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/report"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
)

// StepResult is the result of a step of a history. Its JSON is the output of deed replay.
type StepResult struct {
	step        *historyStep
	timed       bool         // whether to print the times of owners
	content     secret.Value // without managed fields
	Step        int          `json:"step"`
	File        string       `json:"file"`
	Line        int          `json:"line"`
	Manager     string       `json:"manager,omitempty"`
	Operation   string       `json:"operation"`
	Subresource string       `json:"subresource,omitempty"`
	Force       bool         `json:"force,omitempty"`
	Note        string       `json:"note,omitempty"`
	Kind        string       `json:"kind"`
	Namespace   string       `json:"namespace,omitempty"`
	Name        string       `json:"name"`
	// Result is created, changed, unchanged, deleted, conflict or refused; extracted or nothing if the step only reads.
	Result string `json:"result"`
	Error  string `json:"error,omitempty"` // the reason for a refusal
	// Conflicts holds the conflicts of an apply, forced or not, and the fields that an update took from other managers.
	Conflicts []*conflictResult `json:"conflicts"`
	Owners    []*ownerResult    `json:"owners"`
	Object    secret.Value      `json:"object,omitzero"` // the stored object after the step; absent if there is none
}

// conflictResult is a field of other owners that a step changed or would change.
type conflictResult struct {
	Path   string         `json:"path"`
	Owners []report.Owner `json:"owners"`
	Live   secret.Value   `json:"live,omitzero"`
	Wanted secret.Value   `json:"wanted,omitzero"`
}

// ownerResult is an entry of managed fields with its paths. Results are in the order of the entries.
type ownerResult struct {
	report.Owner
	Fields []string  `json:"fields"`
	time   time.Time // zero if it is unknown
}

// conflicts adds the conflicts of a write of given.
func (s *StepResult) conflicts(given *manifest.Object, conflicts merge.Conflicts) {
	view := given.View()
	for _, f := range dryrun.Contests(conflicts) {
		live, wanted := view.Pair(f.Path, f.Live, f.Wanted)
		c := &conflictResult{Path: view.Path(f.Path), Live: live, Wanted: wanted}
		for _, e := range f.Owners {
			c.Owners = append(c.Owners, report.OwnerOf(e))
		}
		s.Conflicts = append(s.Conflicts, c)
	}
}

// show adds the stored object after the step, masked by view.
func (s *StepResult) show(view secret.View, o managedfields.Object) error {
	for i := range o.Entries {
		managers, err := managedfields.Decode(o.Entries[i : i+1])
		if err != nil {
			return err
		}
		for e := range managers.All() {
			entry := &ownerResult{Owner: report.OwnerOf(e), Fields: []string{}, time: e.Time}
			for path := range e.Fields.All() {
				entry.Fields = append(entry.Fields, view.Path(path))
			}
			s.Owners = append(s.Owners, entry)
		}
	}
	s.content = view.Value(nil, o.Content)
	var err error
	s.Object, err = secret.Product(view.Object(o))
	return err
}

var stepVerbs = map[string]string{stepApply: "applies", stepUpdate: "updates", stepExtract: "has applied to"}

// Write prints the step as text.
func (s *StepResult) Write(out *bufio.Writer, paint report.Painter) {
	id := manifest.ID{Kind: s.Kind, Namespace: s.Namespace, Name: s.Name}
	if s.Operation == stepDelete {
		subject := id.String()
		if s.Error != "" {
			subject = "the deletion of " + subject
		}
		fmt.Fprintf(out, "%d. %v: %s is %s\n", s.Step, s.step.At(), subject, paint.Word(s.Result, 0))
	} else {
		fmt.Fprintf(out, "%d. %v: %q %s %v%s: %s\n", s.Step, s.step.At(), s.Manager, stepVerbs[s.Operation], id, s.how(),
			paint.Word(s.Result, 0))
	}
	s.writeNote(out)
	if s.Error != "" {
		fmt.Fprintf(out, "   %s: %s\n", paint.Word("error", 0), s.Error)
	}
	for _, c := range s.Conflicts {
		s.writeConflict(out, c, paint)
	}
	if s.content.IsAbsent() {
		return
	}
	title := "object"
	if s.Operation == stepExtract {
		title = "configuration"
	}
	fmt.Fprintf(out, "   %s:\n", title)
	for line := range bytes.Lines(s.content.AppendYAML(nil)) {
		fmt.Fprintf(out, "     %s", line)
	}
	if s.Operation != stepExtract {
		s.writeOwners(out)
	}
}

// how describes the options of the step that are not the default.
func (s *StepResult) how() string {
	out := ""
	if s.step.endpoint != "" {
		out += " at " + s.step.endpoint
	}
	if s.Subresource != "" {
		out += " through " + s.Subresource
	}
	if s.Force {
		out += " by force"
	}
	return out
}

func (s *StepResult) writeOwners(out *bufio.Writer) {
	fmt.Fprintln(out, "   owners:")
	for _, o := range s.Owners {
		fmt.Fprintf(out, "     %v%s\n", o.Owner, s.when(o))
		for _, path := range o.Fields {
			fmt.Fprintf(out, "       %s\n", path)
		}
	}
}

// when returns the time of the last write of o, if times are printed.
func (s *StepResult) when(o *ownerResult) string {
	switch {
	case !s.timed:
		return ""
	case o.time.IsZero():
		return " at no known time"
	}
	return " at " + o.time.UTC().Format(time.RFC3339)
}

func (s *StepResult) writeNote(out *bufio.Writer) {
	if s.Note != "" {
		fmt.Fprintf(out, "   %s\n", notice.OneLine(s.Note))
	}
}

func (s *StepResult) writeConflict(out *bufio.Writer, c *conflictResult, paint report.Painter) {
	lost := paint.Word("lost", 0)
	live, wanted := secret.Texts(c.Live, c.Wanted)
	switch {
	case s.Result == "conflict", s.Result == "refused":
		conflict := paint.Word("conflict", 0)
		fmt.Fprintf(out, "   %s: %s is %s, wanted %s, owned by %s\n", conflict, c.Path, live, wanted, report.ShowOwners(c.Owners))
	case c.Live.IsAbsent() && c.Wanted.IsAbsent(): // only the entry has the field
		fmt.Fprintf(out, "   %s: %s, was owned by %s\n", lost, c.Path, report.ShowOwners(c.Owners))
	case c.Live.Equal(c.Wanted): // an edit of the managed fields
		fmt.Fprintf(out, "   %s: %s stays %s, was owned by %s\n", lost, c.Path, live, report.ShowOwners(c.Owners))
	case c.Wanted.IsAbsent():
		fmt.Fprintf(out, "   %s: %s was %s, is removed, was owned by %s\n", lost, c.Path, live, report.ShowOwners(c.Owners))
	default:
		taken := paint.Word(report.OutcomeTaken, 0)
		fmt.Fprintf(out, "   %s: %s was %s, becomes %s, was owned by %s\n", taken, c.Path, live, wanted, report.ShowOwners(c.Owners))
	}
}
