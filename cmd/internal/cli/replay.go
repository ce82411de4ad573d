package cli

import (
	"bufio"
	"errors"

	"github.com/spf13/cobra"

	"github.com/deed-project/deed/cmd/internal/history"
	"github.com/deed-project/deed/cmd/internal/report"
	"github.com/deed-project/deed/cmd/internal/secret"
)

// replayFlags holds the flags of deed replay.
type replayFlags struct {
	input   inputFlags
	options history.Options
	format  choice
	color   colorFlags
}

func (c *cli) replayCommand() *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use:   "replay [-f] HISTORY...",
		Short: "Replay writes of several managers, and show who wins",
		Long: `Replay a history, a sequence of writes of several managers, and show the object,
its owners and the conflicts after each write.

A history is a YAML file:

  crds: [widget-crd.yaml]   # or openapi: FILES, schema: FILE and type: NAME, or
                            # schemaless: true; the built-in kinds need none
  steps:
  - manager: ci             # the field manager of the write
    operation: apply        # the default; or update; or delete, which needs
                            # no object; or extract, which shows what the
                            # manager applied
    object: {...}           # or file: FILE, with one object
    force: true             # take fields from their owners
    subresource: status     # the subresource of the request
    endpoint: apps/v1       # the version of the request, if not the object's
    time: "2026-01-01T09:00:00Z"
    note: The first release.
  - manager: autoscaler
    operation: update
    patch: {spec: {replicas: 5}}   # of the object after the previous step
  - manager: ci
    conflicts: 1            # how many are expected
    file: web.yaml
  - manager: ci
    error: not declared     # the step must be refused with this text
    object: {...}
  resetFields: {status: [.spec]}   # by subresource: fields that it cannot write

Each step is a request to a server: a new object gets default values, a write
through status changes nothing else, and a patch cannot rename the object. A
step without object, file and patch is about the object of the step before.

Files are relative to the history. They can also be in it, if it is a txtar
archive, FILE.txtar, of which the history is the comment.

A step with conflicts changes nothing. Conflicts are a finding, unless the step
says how many it expects; then any other number is a finding. A refused step
ends the history, unless it expects the error; then a missing error is a
finding. If only the validation of a server refuses the object, the step is a
finding, and the history goes on as if it were stored. If any step has a time,
owners are shown with the time of their last change.`,
		Example: `  # Who owns the replicas in the end?
  deed replay -f who-scales.yaml

  # The state after the second step, for a program to read
  deed replay -f who-scales.yaml --until 2 -o json`,
		RunE: func(*cobra.Command, []string) error { return c.replay(f) },
	}
	takeFiles(cmd)
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.VarP(list{&f.input.files}, "filename", "f",
		"`file` with a history, or - for standard input, which is also read when there is no -f; repeatable")
	flags.IntVar(&f.options.Until, "until", 0, "stop after step `n`")
	flags.BoolVar(&f.options.Bare, "no-defaults", false, "leave out the changes that a server makes beside merging: default values and normal forms")
	f.format = choice{report.FormatText, []string{report.FormatText, report.FormatJSON}}
	flags.VarP(&f.format, "output", "o", "output format")
	f.color.register(flags)
	registerSchemas(flags, &f.options.Schemas)
	return cmd
}

// replay runs deed replay.
func (c *cli) replay(f replayFlags) error {
	names, err := c.inputs(f.input)
	if f.options.Until < 0 {
		err = errors.Join(err, errors.New("--until must not be negative"))
	}
	var clockErr error
	f.options.Now, clockErr = clock()
	if err := errors.Join(err, checkStdin(names), f.options.Schemas.Check(), clockErr); err != nil {
		return err
	}
	out, paint := bufio.NewWriter(c.out), f.color.painter(c.out)
	results := []*history.StepResult{}
	for _, t := range c.Read(names, false) {
		for _, h := range history.Histories(c.Library, t) {
			r := history.NewReplayer(c.Library, h, f.options)
			if r == nil {
				continue
			}
			r.Each(func(s *history.StepResult) {
				if f.format.value == report.FormatText {
					s.Write(out, paint)
				} else {
					results = append(results, s)
				}
			})
		}
	}
	if f.format.value == report.FormatJSON {
		report.WriteJSON(out, map[string]any{"steps": results})
	}
	if err := out.Flush(); err != nil {
		c.Failed(secret.Open.Error(err))
	}
	return nil
}
