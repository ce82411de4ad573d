package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/deed-project/deed/cmd/internal/krm"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/report"
)

func (c *cli) krmCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "krm",
		Short: "Validate or plan resources as a function of kustomize or kpt",
		Long: `Validate or plan the resources of a ResourceList, as a function of kustomize, kpt
and other tools that follow the KRM Functions Specification. Standard input is a
ResourceList, and standard output the same with results, each with its severity,
resource, field and file. The resources stay as they are.

The data of the function's configuration, a ConfigMap, says what to do: run is
validate, which is the default, or plan. The other members are flags of that
command, such as crd or live; one that may be repeated has a value in each line.
Findings, conflicts and refusals are errors. A plan also has the fields that
change, as information.

Standard error has the errors and warnings, too, because kustomize shows no
results.`,
		Example: `  # A transformer of a kustomization, which kustomize build --enable-alpha-plugins --enable-exec runs
  apiVersion: v1
  kind: ConfigMap
  metadata:
    name: deed
    annotations:
      config.kubernetes.io/function: |
        exec: {path: deed, args: [krm]}
  data:
    run: validate
    crd: crds`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return c.krm() },
	}
}

// krmInput is the name of the file for the resources.
const krmInput = "resources"

// krm runs deed krm.
func (c *cli) krm() error {
	if c.newServer == nil {
		if err := c.delegate(); err == nil || !errors.Is(err, errNotFull) {
			return err
		}
	}
	list, err := krm.Read(c.In, c.out)
	if err != nil {
		return err
	}
	data, err := list.Config()
	if err != nil {
		return err
	}
	args, err := krmArguments(data)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	inner := newCLI(strings.NewReader(""), &out, c.Err)
	inner.newServer, inner.program = c.newServer, c.program
	inner.Archived = map[string][]byte{krmInput: list.Text()}
	c.Raise(inner.run(args, inner.rootCommand()))
	var found krmFound
	if err := json.Unmarshal(out.Bytes(), &found); err != nil {
		return nil // the command line is wrong, which is said
	}
	results := found.results(list)
	for _, r := range results {
		if r.Severity != krm.Info {
			fmt.Fprintln(c.Log, r)
		}
	}
	return c.end(list.Write(append(results, found.unread(list)...)))
}

// krmArguments returns the command line that the configuration of a function stands for.
func krmArguments(data map[string]string) ([]string, error) {
	run := data["run"]
	switch run {
	case "":
		run = "validate"
	case "validate", "plan":
	default:
		return nil, fmt.Errorf("run: %q is neither validate nor plan", run)
	}
	args := []string{run, "--filename=" + krmInput, "--output=" + report.FormatJSON}
	for _, name := range slices.Sorted(maps.Keys(data)) {
		switch name {
		case "run":
			continue
		case "filename", "output", "kustomize", "help":
			return nil, fmt.Errorf("%s: the resources and the results are those of the function", name)
		}
		for _, v := range strings.Split(strings.TrimSuffix(data[name], "\n"), "\n") {
			args = append(args, "--"+name+"="+v)
		}
	}
	return args, nil
}

// krmFound is what deed validate and deed plan print in JSON, as far as results need it.
type krmFound struct {
	Findings []struct { // of deed validate
		manifest.Ref
		Path, Class, Detail string
		Warning             bool
	}
	Objects []struct { // of deed plan
		manifest.Ref
		Decisions []struct {
			Path, Outcome, Rule string
			Live, Result        any
			Before              []struct{ Manager string }
		}
		Findings []struct{ Path, Class, Reason string }
	}
	Notices []struct {
		Class   notice.Class
		Line    int
		Object  string
		Detail  string
		Warning bool
	}
}

// results returns the results for what f finds in the resources of l, in their order.
func (f krmFound) results(l *krm.List) (out []krm.Result) {
	add := func(severity string, o manifest.Ref, path, class, message string) *krm.Result {
		out = append(out, krm.Result{
			Message: message, Severity: severity, File: l.FileAt(o.Line), Tags: map[string]string{"rule": class},
			Resource: &krm.Resource{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name},
		})
		r := &out[len(out)-1]
		if path != "" {
			r.Field = &krm.Field{Path: strings.TrimPrefix(path, ".")}
		}
		return r
	}
	for _, x := range f.Findings {
		add(severity(x.Warning), x.Ref, x.Path, x.Class, x.Detail)
	}
	for _, o := range f.Objects {
		for _, d := range o.Decisions {
			switch d.Outcome {
			case "conflicting":
				var owners []string
				for _, w := range d.Before {
					owners = append(owners, fmt.Sprintf("%q", w.Manager))
				}
				r := add(krm.Error, o.Ref, d.Path, d.Rule, "conflicts with "+strings.Join(owners, ", ")+": the live object has another value")
				r.Field.Current, r.Field.Proposed = d.Result, d.Live
			case "set", "taken", "adjusted", "pruned", "dropped":
				r := add(krm.Info, o.Ref, d.Path, d.Rule, d.Outcome)
				r.Field.Current, r.Field.Proposed = d.Live, d.Result
			}
		}
		for _, x := range o.Findings {
			add(krm.Error, o.Ref, x.Path, x.Class, x.Reason)
		}
	}
	return out
}

// severity returns the severity of what is or is no warning.
func severity(isWarning bool) string {
	if isWarning {
		return krm.Warning
	}
	return krm.Error
}

// unread returns the results for what keeps resources of l from being looked at, which standard error has already.
func (f krmFound) unread(l *krm.List) (out []krm.Result) {
	for _, n := range f.Notices {
		r := krm.Result{Message: n.Detail, Severity: severity(n.Warning), File: l.FileAt(n.Line), Tags: map[string]string{"rule": string(n.Class)}}
		if n.Object != "" {
			r.Message = n.Object + ": " + n.Detail
		}
		out = append(out, r)
	}
	return out
}
