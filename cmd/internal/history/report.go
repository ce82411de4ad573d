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
	"github.com/deed-project/deed/cmd/internal/wording"
	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/value"
)

// StepResult is what a step of a history did. Its JSON is the output of deed replay.
type StepResult struct {
	step        *historyStep
	timed       bool        // whether to print when owners wrote
	content     value.Value // without managed fields
	Step        int         `json:"step"`
	File        string      `json:"file"`
	Line        int         `json:"line"`
	Manager     string      `json:"manager,omitempty"`
	Operation   string      `json:"operation"`
	Subresource string      `json:"subresource,omitempty"`
	Force       bool        `json:"force,omitempty"`
	Note        string      `json:"note,omitempty"`
	Kind        string      `json:"kind"`
	Namespace   string      `json:"namespace,omitempty"`
	Name        string      `json:"name"`
	// Result is created, changed, unchanged, deleted, conflict or refused; extracted or nothing if
	// the step only reads.
	Result string `json:"result"`
	Error  string `json:"error,omitempty"` // why the step was refused
	// Conflicts are those of an apply, whether forced or not, and what an update took from others.
	Conflicts []*conflictResult `json:"conflicts"`
	Owners    []*ownerResult    `json:"owners"`
	Object    value.Value       `json:"object,omitzero"` // what is stored after the step, absent when nothing is
}

// conflictResult is a field that a step would change, or did, although others own it.
type conflictResult struct {
	Path   string         `json:"path"`
	Owners []report.Owner `json:"owners"`
	Live   value.Value    `json:"live,omitzero"`
	Wanted value.Value    `json:"wanted,omitzero"`
}

// ownerResult is an entry of managed fields with the paths in it. They are in the order of the
// entries.
type ownerResult struct {
	report.Owner
	Fields []string  `json:"fields"`
	time   time.Time // zero when it is not known
}

// conflicts adds conflicts of writing given.
func (s *StepResult) conflicts(given *manifest.Object, conflicts merge.Conflicts, showSecrets bool) {
	for _, f := range dryrun.Contests(conflicts) {
		live, wanted := f.Live, f.Wanted
		if !showSecrets && secret.IsIn(given.Object, f.Path) {
			live, wanted = secret.Pair(live, wanted)
		}
		c := &conflictResult{Path: f.Path.Text(), Live: live, Wanted: wanted}
		for _, e := range f.Owners {
			c.Owners = append(c.Owners, report.OwnerOf(e))
		}
		s.Conflicts = append(s.Conflicts, c)
	}
}

// show adds the object that is stored after the step.
func (s *StepResult) show(o managedfields.Object, showSecrets bool) error {
	for i := range o.Entries {
		managers, err := managedfields.Decode(o.Entries[i : i+1])
		if err != nil {
			return err
		}
		for e := range managers.All() {
			entry := &ownerResult{Owner: report.OwnerOf(e), Fields: []string{}, time: e.Time}
			for path := range e.Fields.All() {
				entry.Fields = append(entry.Fields, path.Text())
			}
			s.Owners = append(s.Owners, entry)
		}
	}
	if !showSecrets {
		o, _ = secret.Objects(o, o)
	}
	s.content = o.Content
	var err error
	s.Object, err = o.Value()
	return err
}

var stepVerbs = map[string]string{stepApply: "applies", stepUpdate: "updates", stepExtract: "has applied to"}

// Write prints the step in words.
func (s *StepResult) Write(out *bufio.Writer, paint report.Painter) {
	id := manifest.ID{Kind: s.Kind, Namespace: s.Namespace, Name: s.Name}
	if s.Operation == stepDelete {
		fmt.Fprintf(out, "%d. %v: %v is %s\n", s.Step, s.step.At(), id, paint.Word(s.Result, 0))
		s.writeNote(out)
		return
	}
	fmt.Fprintf(out, "%d. %v: %q %s %v%s: %s\n", s.Step, s.step.At(), s.Manager, stepVerbs[s.Operation], id, s.how(),
		paint.Word(s.Result, 0))
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
	for line := range bytes.Lines(yaml.Append(nil, s.content)) {
		fmt.Fprintf(out, "     %s", line)
	}
	if s.Operation != stepExtract {
		s.writeOwners(out)
	}
}

// how says in which way the step writes, beyond the usual.
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

// when says when o wrote last, where that matters.
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
	live, wanted := wording.ShowPair(c.Live, c.Wanted)
	switch {
	case s.Result == "conflict":
		conflict := paint.Word("conflict", 0)
		fmt.Fprintf(out, "   %s: %s is %s, wanted %s, owned by %s\n", conflict, c.Path, live, wanted, report.ShowOwners(c.Owners))
	case c.Live.IsAbsent() && c.Wanted.IsAbsent(): // only the entry has it
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
