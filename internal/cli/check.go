package cli

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/ownership"
)

// checkFlags are those of deed check.
type checkFlags struct {
	stored  storedFlags
	schemas bool
	ignore  []string
	format  choice
	color   colorFlags
}

func (c *cli) checkCommand() *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check -f LIVE",
		Short: "Find what is wrong with managedFields, or will be soon",
		Long: `Find what is wrong with the managedFields of objects, or will be soon: entries
that cannot be read, paths that the schema or the object does not have, items
that somebody keeps without owning anything in them, fields held in the name of
client-side apply. Each finding has a code, its place, and what to do about it.

With --schemas, find also what makes lists hard to share, in the schemas that
are given and in CustomResourceDefinitions among the objects: lists of objects
that are atomic although nobody said so, and sets of objects. Keys are proposed
from the fields of the items.

The exit code is 1 if there are findings. Without a schema for a kind only that
is found for which none is needed.`,
		Example: `  # Is anything wrong with what the cluster stores?
  kubectl get deployments -A -o yaml --show-managed-fields | deed check

  # The same, fields of client-side apply put up with
  deed check -f live.yaml --ignore client-side-apply,before-first-apply

  # Will several managers be able to share the lists of these kinds?
  deed check --schemas --crd crd.yaml`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return c.check(f) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	f.stored.registerInput(flags)
	flags.BoolVar(&f.schemas, "schemas", false, "check the schemas too")
	flags.StringSliceVar(&f.ignore, "ignore", nil, "`codes` of findings to leave out; repeatable")
	f.format = choice{formatText, []string{formatText, formatJSON}}
	flags.VarP(&f.format, "output", "o", "output format")
	f.color.register(flags)
	registerSchemas(flags, &f.stored.schemas)
	return cmd
}

// checkCodes are the codes of findings, those about managed fields in the order of docs/check.md.
var checkCodes = []ownership.Code{
	ownership.Undecodable, ownership.InvalidManager, ownership.InvalidSubresource, ownership.DuplicateIdentity,
	ownership.UnknownVersion, ownership.Unconvertible, ownership.EmptySet, ownership.NotCanonical,
	ownership.UndeclaredPath, ownership.StalePath, ownership.AbsentPath, ownership.OrphanItem,
	ownership.ClientSideApply, ownership.BeforeFirstApply, ownership.AncientChanges, ownership.TooManyUpdaters,
	ownership.LostOwners, ownership.InvalidObject, atomicListCode, objectSetCode,
}

// checked is a finding with its place.
type checked struct {
	where   position
	subject string
	finding ownership.Finding
	entry   bool // whether it is about an entry
	object  *object
	kind    string // that a finding about a schema is about
	path    string
}

// check is deed check.
func (c *cli) check(f checkFlags) error {
	if err := f.checkIgnored(); err != nil {
		return err
	}
	if err := f.stored.schemas.check(); err != nil {
		return err
	}
	var found []checked
	var objects []*object
	if !f.schemas || len(f.stored.input.files) > 0 || !f.stored.schemas.any() {
		var types *types
		var err error
		if objects, types, err = c.stored(f.stored); err != nil || types == nil {
			return err
		}
		for _, o := range objects {
			found = append(found, checkObject(c.library, o, types)...)
		}
	}
	if f.schemas {
		lints, any := lintSchemas(c.library, f.stored.schemas, objects)
		if !any && c.problems == 0 {
			return errors.New("--schemas: there is no schema to check: name some with --crd, --openapi, or --schema and --type")
		}
		found = append(found, lints...)
	}
	found = slices.DeleteFunc(found, func(x checked) bool { return slices.Contains(f.ignore, string(x.finding.Code)) })
	if len(found) > 0 {
		c.raise(exitFinding)
	}
	out := bufio.NewWriter(c.out)
	if f.format.value == formatJSON {
		return c.flush(out, writeJSON(out, findingsJSON(found)))
	}
	paint := f.color.painter(c.out)
	for _, x := range found {
		code := string(x.finding.Code)
		fmt.Fprintf(out, "%v: %s: %s%s\n", x.where, x.subject, paint.paint(yellow, code), strings.TrimPrefix(x.String(), code))
		if x.finding.Remedy != "" {
			fmt.Fprintf(out, "    %s\n", paint.paint(faint, x.finding.Remedy))
		}
	}
	return c.flush(out, nil)
}

// String returns the finding without its place.
func (x checked) String() string {
	if x.kind == "" {
		return x.finding.String()
	}
	return fmt.Sprintf("%s: %s: %s: %s", x.finding.Code, x.kind, x.path, x.finding.Detail)
}

func (f checkFlags) checkIgnored() error {
	known := make([]string, len(checkCodes))
	for i, code := range checkCodes {
		known[i] = string(code)
	}
	for _, code := range f.ignore {
		if !slices.Contains(known, code) {
			hint := ""
			if meant := nearest(code, known); meant != "" {
				hint = fmt.Sprintf("; did you mean %q?", meant)
			}
			return fmt.Errorf("--ignore: there is no code %q%s", code, hint)
		}
	}
	return nil
}

// any reports whether f names schemas.
func (f *schemaFlags) any() bool { return len(f.crds) > 0 || len(f.openAPI) > 0 || f.schema != "" }

// checkObject returns what is wrong with the managed fields of o.
func checkObject(c *library, o *object, types *types) []checked {
	e, err := types.of(o.GVK(), managedfields.Config{})
	if err != nil {
		c.warn(o.at("kind"), "%v: %v; only what needs no schema is checked", o, err)
	}
	var out []checked
	for _, finding := range findings(c, o, e) {
		x := checked{where: o.at(), subject: o.String(), finding: finding, object: o, entry: finding.Entry >= 0}
		if x.entry {
			x.where = o.at("metadata", "managedFields", finding.Entry)
		}
		if finding.Path != nil {
			x.path = finding.Path.Text()
			if line, _ := o.place(finding.Path); line > 0 {
				x.where = o.key(steps(o.Content, finding.Path)...)
			}
		}
		out = append(out, x)
	}
	return out
}

// needSchema are the codes of what is found only with the help of a schema.
var needSchema = []ownership.Code{
	ownership.UnknownVersion, ownership.Unconvertible, ownership.UndeclaredPath, ownership.StalePath,
	ownership.AbsentPath, ownership.OrphanItem, ownership.InvalidObject,
}

// findings returns what is wrong with the managed fields of o, whose endpoint is e, nil if there is none. It warns about
// entries whose version o cannot be converted to: for these only that is found which needs no schema.
func findings(c *library, o *object, e *endpoint) []ownership.Finding {
	if e == nil {
		return ownership.Check(o.Object, ownership.CheckConfig{})
	}
	readable := o.Object
	readable.Entries = nil
	var at []int // where the entries of readable are in o
	for i, entry := range o.Entries {
		if _, known := e.versions[entry.APIVersion]; known && !e.renamed && entry.APIVersion != o.GVK().APIVersion() {
			c.warn(o.at("metadata", "managedFields", i), "%v: the fields of %s are of %s, which deed cannot convert the object to; "+
				"only what needs no schema is checked", o, manager(entry.Manager), entry.APIVersion)
			continue
		}
		readable.Entries, at = append(readable.Entries, entry), append(at, i)
	}
	config := ownership.CheckConfig{Versions: ownership.Versions{Types: e.versions}}
	if len(at) == len(o.Entries) {
		return ownership.Check(o.Object, config)
	}
	found := ownership.Check(o.Object, ownership.CheckConfig{})
	for _, f := range ownership.Check(readable, config) {
		if slices.Contains(needSchema, f.Code) {
			if f.Entry >= 0 {
				f.Entry = at[f.Entry]
			}
			found = append(found, f)
		}
	}
	slices.SortStableFunc(found, func(a, b ownership.Finding) int { return cmp.Compare(uint(a.Entry), uint(b.Entry)) })
	return found
}

type findingJSON struct {
	Code    string      `json:"code"`
	File    string      `json:"file"`
	Line    int         `json:"line,omitempty"`
	Column  int         `json:"column,omitempty"`
	Object  *objectJSON `json:"object,omitempty"`
	Kind    string      `json:"kind,omitempty"` // that a schema describes
	Entry   *int        `json:"entry,omitempty"`
	Manager string      `json:"manager,omitempty"`
	Path    string      `json:"path,omitempty"`
	Paths   []string    `json:"paths,omitempty"`
	Detail  string      `json:"detail"`
	Remedy  string      `json:"remedy,omitempty"`
}

func findingsJSON(found []checked) []findingJSON {
	all := []findingJSON{}
	for _, x := range found {
		f := findingJSON{
			Code: string(x.finding.Code), File: x.where.file, Line: x.where.line, Column: x.where.column, Kind: x.kind,
			Manager: x.finding.Manager, Path: x.path, Detail: x.finding.Detail, Remedy: x.finding.Remedy,
		}
		if x.object != nil {
			o := x.object.json()
			f.Object = &o
		}
		if x.entry {
			f.Entry = &x.finding.Entry
		}
		for path := range x.finding.Fields.All() {
			f.Paths = append(f.Paths, path.Text())
		}
		all = append(all, f)
	}
	return all
}
