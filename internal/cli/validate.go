package cli

import (
	"bufio"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// validateFlags are those of deed validate.
type validateFlags struct {
	stored storedFlags
	mode   choice
	format choice
	color  colorFlags
}

// The modes of validation, as in kubectl.
const (
	strictMode = "strict"
	warnMode   = "warn"
	ignoreMode = "ignore"
)

func (c *cli) validateCommand() *cobra.Command {
	var f validateFlags
	cmd := &cobra.Command{
		Use:   "validate -f FILE",
		Short: "Find fields of objects that their schemas do not have, or that are of the wrong type",
		Long: `Find in objects what their schemas do not admit: unknown fields, values of the
wrong type, items of sets and keyed lists that are there twice or have no key,
and names that an object has twice. Each finding has its place, and unknown
fields the name that was probably meant.

What schemas say beyond structure is not looked at: required fields,
enumerations, patterns, limits.

As in kubectl, --validate=warn makes warnings of unknown fields and of what is
there twice, and --validate=ignore leaves them out. The exit code is 1 if anything is
invalid.`,
		Example: `  # Is everything in a directory as its schema wants it?
  deed validate -R -f deploy

  # With custom resources, for programs
  deed validate -f widget.yaml --crd widget-crd.yaml -o json`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return c.validate(f) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	f.stored.input.registerFor(flags, "objects")
	f.mode = choice{strictMode, []string{strictMode, warnMode, ignoreMode}}
	flags.Var(&f.mode, "validate", "how strict to be")
	flags.Lookup("validate").NoOptDefVal = strictMode
	f.format = choice{formatText, []string{formatText, formatJSON}}
	flags.VarP(&f.format, "output", "o", "output format")
	f.color.register(flags)
	registerSchemas(flags, &f.stored.schemas)
	return cmd
}

// validationJSON is the outcome of deed validate.
type validationJSON struct {
	Valid    int           `json:"valid"`
	Invalid  int           `json:"invalid"`
	Untyped  int           `json:"withoutSchema"`
	Findings []invalidJSON `json:"findings"`
}

// invalidJSON is one place where an object is not as its schema wants it.
type invalidJSON struct {
	objectJSON
	Path    string `json:"path"`
	Column  int    `json:"column"`
	Class   string `json:"class"`
	Detail  string `json:"detail"`
	Warning bool   `json:"warning,omitempty"`

	where   position `json:"-"`
	subject *object  `json:"-"`
}

// classes name the reasons for which values do not conform.
var classes = map[typed.Reason]string{
	typed.WrongKind: "mistyped", typed.Undeclared: "unknown", typed.Unidentified: "no-key", typed.Duplicate: "duplicate",
	typed.BadSchema: "schema",
}

// validate is deed validate.
func (c *cli) validate(f validateFlags) error {
	names, err := c.inputs(f.stored.input)
	if err := errors.Join(err, checkStdin(names), f.stored.schemas.check()); err != nil {
		return err
	}
	everything := func(value.Value) bool { return true }
	objects := c.objectsBy(reader{want: everything, unnamed: true, repeating: true}, c.read(names, f.stored.input.recursive))
	if len(objects) == 0 && c.problems == 0 {
		return errNoObjects
	}
	types := c.newTypes(f.stored.schemas, objects...)
	if types == nil {
		return nil
	}
	v := validationJSON{Findings: []invalidJSON{}}
	for _, o := range objects {
		findings := repetitions(o)
		e, ok := c.typeOf(o, types, managedfields.Config{})
		if ok {
			findings = append(findings, invalid(o, e)...)
			slices.SortStableFunc(findings, func(a, b invalidJSON) int { return a.where.compare(b.where) })
		}
		isValid := v.add(f.mode.value, findings)
		switch {
		case !ok:
			v.Untyped++
		case isValid:
			v.Valid++
		default:
			v.Invalid++
		}
		if !isValid {
			c.raise(exitFinding)
		}
	}
	out := bufio.NewWriter(c.out)
	if f.format.value == formatJSON {
		return c.flush(out, writeJSON(out, v))
	}
	paint := f.color.painter(c.out)
	for _, x := range v.Findings {
		prefix, style := "", red
		if x.Warning {
			prefix, style = "warning: ", yellow
		}
		fmt.Fprintf(out, "%v: %s%v: %s\n", x.where, prefix, x.subject, paint.paint(style, x.Detail))
	}
	fmt.Fprintf(out, "%s: %d valid, %d invalid, %d without schema\n", plural(len(objects), "object"), v.Valid, v.Invalid, v.Untyped)
	return c.flush(out, nil)
}

// add adds the findings of an object, as far as the mode takes them to be some, and reports whether it is valid all the same.
func (v *validationJSON) add(mode string, findings []invalidJSON) (isValid bool) {
	isValid = true
	for _, x := range findings {
		mild := x.Class == repeatedClass || x.Class == classes[typed.Undeclared] || x.Class == classes[typed.Duplicate]
		if mild && mode == ignoreMode {
			continue
		}
		x.Warning = mild && mode == warnMode
		isValid = isValid && x.Warning
		v.Findings = append(v.Findings, x)
	}
	return isValid
}

// invalid returns where o is not as its schema wants it.
func invalid(o *object, e *endpoint) []invalidJSON {
	_, err := typed.New(o.Content, e.typ)
	var defects typed.Errors
	if !errors.As(err, &defects) {
		return nil
	}
	var out []invalidJSON
	for _, d := range defects {
		where := o.defectAt(d)
		x := invalidJSON{
			objectJSON: o.json(), Path: d.Path.Text(), Class: classes[d.Reason], Column: where.column, Detail: explain(d, e.typ),
			where: where, subject: o,
		}
		x.Line = where.line
		out = append(out, x)
	}
	return out
}
