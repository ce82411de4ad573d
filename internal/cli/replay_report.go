package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"time"

	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/value"
)

// stepResult is what a step of a history did. Its JSON is the output of deed replay.
type stepResult struct {
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
	// Result is created, changed, unchanged, deleted, conflict or refused; extracted or nothing if the step only reads.
	Result string `json:"result"`
	Error  string `json:"error,omitempty"` // why the step was refused
	// Conflicts are those of an apply, whether forced or not, and what an update took from others.
	Conflicts []*conflictResult `json:"conflicts"`
	Owners    []*ownerResult    `json:"owners"`
	Object    value.Value       `json:"object,omitzero"` // what is stored after the step, absent when nothing is
}

// conflictResult is a field that a step would change, or did, although others own it.
type conflictResult struct {
	Path   string      `json:"path"`
	Owners []owner     `json:"owners"`
	Live   value.Value `json:"live,omitzero"`
	Wanted value.Value `json:"wanted,omitzero"`
}

// ownerResult is an entry of managed fields with the paths in it. They are in the order of the entries.
type ownerResult struct {
	owner
	Fields []string  `json:"fields"`
	time   time.Time // zero when it is not known
}

func ownerOf(e merge.Entry) owner {
	return owner{e.Manager.Name, e.Manager.Operation, e.APIVersion, e.Manager.Subresource}
}

// conflicts adds conflicts of writing given.
func (s *stepResult) conflicts(given *object, conflicts merge.Conflicts, showSecrets bool) {
	for _, f := range contests(conflicts) {
		live, wanted := f.live, f.wanted
		if !showSecrets && isSecretPath(given.Object, f.path) {
			live, wanted = maskPair(live, wanted)
		}
		c := &conflictResult{Path: f.path.String(), Live: live, Wanted: wanted}
		for _, e := range f.owners {
			c.Owners = append(c.Owners, ownerOf(e))
		}
		s.Conflicts = append(s.Conflicts, c)
	}
}

// show adds the object that is stored after the step.
func (s *stepResult) show(o managedfields.Object, showSecrets bool) error {
	for i := range o.Entries {
		managers, err := managedfields.Decode(o.Entries[i : i+1])
		if err != nil {
			return err
		}
		for e := range managers.All() {
			entry := &ownerResult{owner: ownerOf(e), Fields: []string{}, time: e.Time}
			for path := range e.Fields.All() {
				entry.Fields = append(entry.Fields, path.String())
			}
			s.Owners = append(s.Owners, entry)
		}
	}
	if !showSecrets {
		o, _ = maskObjects(o, o)
	}
	s.content = o.Content
	var err error
	s.Object, err = o.Value()
	return err
}

var stepVerbs = map[string]string{stepApply: "applies", stepUpdate: "updates", stepExtract: "has applied to"}

// write prints the step in words.
func (s *stepResult) write(out *bufio.Writer, paint painter) {
	id := objectID{kind: s.Kind, namespace: s.Namespace, name: s.Name}
	if s.Operation == stepDelete {
		fmt.Fprintf(out, "%d. %v: %v is %s\n", s.Step, s.step.at(), id, paint.word(s.Result, 0))
		s.writeNote(out)
		return
	}
	fmt.Fprintf(out, "%d. %v: %q %s %v%s: %s\n", s.Step, s.step.at(), s.Manager, stepVerbs[s.Operation], id, s.how(),
		paint.word(s.Result, 0))
	s.writeNote(out)
	if s.Error != "" {
		fmt.Fprintf(out, "   %s: %s\n", paint.word("error", 0), s.Error)
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
func (s *stepResult) how() string {
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

func (s *stepResult) writeOwners(out *bufio.Writer) {
	fmt.Fprintln(out, "   owners:")
	for _, o := range s.Owners {
		fmt.Fprintf(out, "     %v%s\n", o.owner, s.when(o))
		for _, path := range o.Fields {
			fmt.Fprintf(out, "       %s\n", path)
		}
	}
}

// when says when o wrote last, where that matters.
func (s *stepResult) when(o *ownerResult) string {
	switch {
	case !s.timed:
		return ""
	case o.time.IsZero():
		return " at no known time"
	}
	return " at " + o.time.UTC().Format(time.RFC3339)
}

func (s *stepResult) writeNote(out *bufio.Writer) {
	if s.Note != "" {
		fmt.Fprintf(out, "   %s\n", oneLine(s.Note))
	}
}

func (s *stepResult) writeConflict(out *bufio.Writer, c *conflictResult, paint painter) {
	lost := paint.word("lost", 0)
	live, wanted := showPair(c.Live, c.Wanted)
	switch {
	case s.Result == "conflict":
		conflict := paint.word("conflict", 0)
		fmt.Fprintf(out, "   %s: %s is %s, wanted %s, owned by %s\n", conflict, c.Path, live, wanted, showOwners(c.Owners))
	case c.Live.IsAbsent() && c.Wanted.IsAbsent(): // only the entry has it
		fmt.Fprintf(out, "   %s: %s, was owned by %s\n", lost, c.Path, showOwners(c.Owners))
	case c.Live.Equal(c.Wanted): // an edit of the managed fields
		fmt.Fprintf(out, "   %s: %s stays %s, was owned by %s\n", lost, c.Path, live, showOwners(c.Owners))
	case c.Wanted.IsAbsent():
		fmt.Fprintf(out, "   %s: %s was %s, is removed, was owned by %s\n", lost, c.Path, live, showOwners(c.Owners))
	default:
		taken := paint.word(outcomeTaken, 0)
		fmt.Fprintf(out, "   %s: %s was %s, becomes %s, was owned by %s\n", taken, c.Path, live, wanted, showOwners(c.Owners))
	}
}
