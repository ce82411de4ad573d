package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/ownership"
	"github.com/deed-project/deed/value"
)

// handoverFlags are those of the commands that hand fields over from one manager to another.
type handoverFlags struct {
	live    []string
	configs inputFlags
	schemas schemaFlags
	put     putFlags
	format  choice
}

const formatPatch = "patch"

func (f *handoverFlags) registerInput(flags *pflag.FlagSet) {
	flags.SortFlags = false
	flags.StringArrayVar(&f.live, "live", nil,
		"`file` or directory with "+storedObjects+", or - for standard input, which is also read when there is no --live; repeatable")
	flags.StringArrayVarP(&f.configs.files, "filename", "f", nil,
		"`file` or directory with the configurations that the receiver will apply next, to see what that does; repeatable")
	flags.BoolVarP(&f.configs.recursive, "recursive", "R", false, "read directories with everything below them")
	flags.IntVar(&f.configs.jobs, "jobs", 0, jobsUsage)
}

func (f *handoverFlags) registerOutput(flags *pflag.FlagSet) {
	f.put.register(flags)
	f.format = choice{formatText, []string{formatText, formatPatch, formatYAML, formatJSON}}
	flags.VarP(&f.format, "output", "o", "output format")
	registerSchemas(flags, &f.schemas)
}

// handoverRules is what the help of such commands has in common.
const handoverRules = `Nothing is changed unless --write is given: the output shows who owns what
before and after. With -f, it shows also what the next apply of the
configurations by the receiver then removes, what it keeps although they lack
it, and its conflicts; such removals and conflicts are findings, exit code 1.

-o patch is a JSON patch for kubectl patch --type=json, which the API server
refuses if the object has changed since; of several objects, a list that says
which patch is for which. -o yaml and -o json are the objects.`

// handover is an object before and after fields have changed hands.
type handover struct {
	live      *object
	after     managedfields.Object
	config    *object // that the receiver applies next; nil when it is not known
	receiver  string  // who applies it
	note      string  // why there is nothing to do
	removed   []leftover
	kept      []leftover
	conflicts merge.Conflicts
}

// leftover is a live value that the configuration lacks.
type leftover struct {
	path   fieldpath.Path
	value  value.Value
	owners []merge.Manager // besides the receiver
}

// handovers reads the objects, and has hand do what is to be done to each. hand reports why it cannot, and returns nil.
func (c *cli) handovers(f handoverFlags, hand func(o *object, config *object, e *endpoint) *handover) error {
	names, err := c.inputs(inputFlags{files: f.live, jobs: f.configs.jobs})
	if errors.Is(err, errNoInput) {
		return errors.New("no input: name the stored objects with --live, or pipe them in")
	}
	if err := errors.Join(err, checkStdin(names, f.configs.files), f.schemas.check()); err != nil {
		return err
	}
	files, err := f.put.rewriter(c, f.live)
	if err != nil {
		return err
	}
	objects := c.objects(c.read(names, f.configs.recursive))
	if len(objects) == 0 && c.problems == 0 {
		return errNoObjects
	}
	configs := c.objects(c.read(f.configs.files, f.configs.recursive))
	types := c.newTypes(f.schemas, slices.Concat(objects, configs)...)
	if types == nil {
		return nil
	}
	targets := targets(c.library, objects, configs)
	config, err := clock()
	if err != nil {
		return err
	}
	var all []*handover
	for _, o := range objects {
		e, ok := c.typeOf(o, types, managedfields.Config{Now: config})
		if !ok {
			continue
		}
		if h := hand(o, targets[o], e); h != nil {
			all = append(all, h)
		}
	}
	return c.handOver(f, all, files)
}

// targets returns the configuration for each of the stored objects that has one.
func targets(c *library, objects, configs []*object) map[*object]*object {
	out := map[*object]*object{}
	live := newLiveObjects(objects, true)
	for _, config := range configs {
		o, err := live.find(config)
		switch {
		case err != nil:
			c.problem(config.at(), "%v", err)
		case o == nil:
			c.warn(config.at(), "%v is not among the stored objects", config)
		case out[o] != nil:
			c.problem(config.at(), "%v is already configured at %v", config, out[o].at())
		default:
			out[o] = config
		}
	}
	return out
}

// handOver prints and writes what has changed hands.
func (c *cli) handOver(f handoverFlags, all []*handover, files *rewriter) error {
	out := bufio.NewWriter(c.out)
	var err error
	switch f.format.value {
	case formatPatch:
		err = printPatches(out, all)
	case formatText:
		for i, h := range all {
			if i > 0 {
				out.WriteString("\n")
			}
			printHandover(out, h)
		}
	default:
		p := newPrinter(out, f.format.value, true, len(all) > 1)
		for _, h := range all {
			err = errors.Join(err, p.print(h.after))
		}
		err = errors.Join(err, p.close())
	}
	for _, h := range all {
		if slices.ContainsFunc(h.removed, func(l leftover) bool { return !h.isKubectls(l) }) || len(h.conflicts) > 0 {
			c.raise(exitFinding)
		}
		if files != nil && h.note == "" {
			note := f.put.note(h.live, "handed over")
			if f.format.value != formatText {
				note = ""
			}
			err = errors.Join(err, files.set(h.live, h.after, note))
		}
	}
	if err := c.flush(out, err); err != nil || files == nil {
		return err
	}
	files.flush()
	return nil
}

// record is the path of what kubectl's client-side apply records in an object.
var record = fieldpath.Path{
	fieldpath.Field("metadata"), fieldpath.Field("annotations"), fieldpath.Field("kubectl.kubernetes.io/last-applied-configuration"),
}

// isKubectls reports whether l is kubectl's record in an object that kubectl applies, which it takes care of itself.
func (h *handover) isKubectls(l leftover) bool {
	return h.receiver == "kubectl" && l.path.Equal(record)
}

// patchJSON is a patch with the object that it is for.
type patchJSON struct {
	objectJSON
	Patch json.RawMessage `json:"patch"`
}

// printPatches prints the patch of a single object as it is, and those of several with what they are for.
func printPatches(out *bufio.Writer, all []*handover) error {
	patches := []patchJSON{}
	for _, h := range all {
		patch, err := ownership.EntriesPatch(h.live.Object, h.after.Entries)
		if err != nil {
			return err
		}
		if patch == nil {
			patch = []byte("[]")
		}
		patches = append(patches, patchJSON{h.live.json(), patch})
	}
	if len(patches) != 1 {
		return writeJSON(out, patches)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, patches[0].Patch, "", "    "); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out, b.String())
	return err
}

// printHandover shows who owns what before and after, and what the next apply will do.
func printHandover(out *bufio.Writer, h *handover) {
	if h.note != "" {
		fmt.Fprintf(out, "%v: %v: %s\n", h.live.at(), h.live, h.note)
		return
	}
	fmt.Fprintf(out, "%v: %v\n", h.live.at(), h.live)
	for _, g := range h.changes() {
		fmt.Fprintf(out, "  %s: %s -> %s\n", plural(len(g.paths), "path"), managersText(g.before), managersText(g.after))
		for _, path := range g.paths {
			fmt.Fprintf(out, "    %s\n", describe(h.live, path))
		}
	}
	if h.config != nil {
		printNext(out, h, fmt.Sprintf("the next apply of %v", h.config.at()))
	}
}

// printNext shows what next, the next apply by the receiver, will do.
func printNext(out *bufio.Writer, h *handover, next string) {
	list := func(text string, all []leftover) {
		if len(all) > 0 {
			fmt.Fprintf(out, "  %s %s:\n", next, text)
		}
		for _, l := range all {
			owners := ""
			if len(l.owners) > 0 {
				owners = ", owned by " + managersText(l.owners)
			}
			if h.isKubectls(l) {
				owners = ", unless kubectl applies: it keeps its record"
			}
			fmt.Fprintf(out, "    %s: %s%s\n", describe(h.live, l.path), showIn(h.live, l.path, l.value), owners)
		}
	}
	list("removes, as nobody else owns it", h.removed)
	list("keeps, although it is not in there", h.kept)
	for _, x := range contests(h.conflicts) {
		live, wanted := showPair(x.live, x.wanted)
		if isSecretPath(h.live.Object, x.path) {
			live, wanted = masked, masked
		}
		owners := make([]string, len(x.owners))
		for i, w := range x.owners {
			owners[i] = showOwner(w)
		}
		fmt.Fprintf(out, "  %s conflicts: %s: %s would become %s, owned by %s\n", next, describe(h.live, x.path), live, wanted,
			strings.Join(owners, " and "))
	}
	if len(h.removed)+len(h.kept)+len(h.conflicts) == 0 {
		fmt.Fprintf(out, "  %s removes nothing and has no conflict\n", next)
	}
}

// describe returns path with its line in the input, if it has one.
func describe(o *object, path fieldpath.Path) string {
	if line, _ := o.place(path); line > 0 {
		return fmt.Sprintf("%v: %s", o.key(steps(o.Content, path)...), path.Text())
	}
	return path.Text()
}

// ownersChange are paths that change hands in the same way.
type ownersChange struct {
	before, after []merge.Manager
	paths         []fieldpath.Path
}

// changes groups the paths whose owners change, in the order in which the groups come first.
func (h *handover) changes() []*ownersChange {
	before, after := setsOf(h.live.Entries), setsOf(h.after.Entries)
	var union fieldpath.Set
	for _, e := range slices.Concat(before, after) {
		union = union.Union(e.Fields)
	}
	var all []*ownersChange
	for path := range union.All() {
		b, a := holdersAt(before, path), holdersAt(after, path)
		if slices.Equal(b, a) {
			continue
		}
		i := slices.IndexFunc(all, func(g *ownersChange) bool { return slices.Equal(g.before, b) && slices.Equal(g.after, a) })
		if i < 0 {
			i, all = len(all), append(all, &ownersChange{before: b, after: a})
		}
		all[i].paths = append(all[i].paths, path)
	}
	return all
}

// setsOf returns what the entries own. Those that cannot be read own nothing: whoever hands fields over has read them.
func setsOf(entries []managedfields.Entry) []merge.Entry {
	out := make([]merge.Entry, len(entries))
	for i, e := range entries {
		out[i] = merge.Entry{Manager: identity(e)}
		if set, err := e.FieldsV1.Set(); err == nil {
			out[i].Fields = set
		}
	}
	return out
}

// holdersAt returns the owners of path, in their order.
func holdersAt(entries []merge.Entry, path fieldpath.Path) []merge.Manager {
	var owners []merge.Manager
	for _, e := range entries {
		if e.Fields.Has(path) {
			owners = append(owners, e.Manager)
		}
	}
	slices.SortFunc(owners, merge.Manager.Compare)
	return owners
}

// managersText lists managers with their operations.
func managersText(owners []merge.Manager) string {
	if len(owners) == 0 {
		return nobody
	}
	names := make([]string, len(owners))
	for i, m := range owners {
		names[i] = manager(m.Name) + " " + operation(m)
	}
	slices.Sort(names)
	return strings.Join(names, between)
}
