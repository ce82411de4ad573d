package main

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"slices"
	"time"

	"github.com/deed-project/deed/oracle/bench/measure"
	"github.com/deed-project/deed/oracle/bench/report"
	"github.com/deed-project/deed/oracle/bench/rows"
)

// Exit codes.
const (
	exitMissed = 1 // a row misses its bar
	exitFailed = 2 // a flag, a row or an output failed
)

// options are the values of the flags.
type options struct {
	json       bool
	quick      bool
	list       bool
	verbose    bool
	row        *regexp.Regexp
	only       string
	into       string
	cpuProfile string
	memProfile string
	cpuClock   bool
	plan       measure.Plan
}

func parse(args []string, stderr io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.BoolVar(&o.json, "json", false, "print one JSON object a line")
	flags.BoolVar(&o.quick, "quick", false, "take few and short samples, and leave out the largest objects")
	flags.BoolVar(&o.list, "list", false, "print the names of the rows and measure nothing")
	flags.BoolVar(&o.verbose, "v", false, "print the name of each row to standard error as its turn comes")
	pattern := flags.String("row", "", "measure only rows whose name matches `regexp`")
	flags.StringVar(&o.only, "only", "", "measure only this `side`: deed or peer")
	flags.StringVar(&o.into, "into", "", "put the tables into `file`, instead of those that it has")
	flags.StringVar(&o.cpuProfile, "cpuprofile", "", "write a CPU profile of what is measured to `file`; use with -only")
	flags.StringVar(&o.memProfile, "memprofile", "", "write a profile of all allocations to `file`; use with -only")
	clock := flags.String("clock", "wall", "measure `wall` or cpu time; cpu is that of all threads, and fit for a loaded machine")
	flags.DurationVar(&o.plan.Length, "sample", 0, "length of a sample (default 100ms, quick 10ms)")
	flags.IntVar(&o.plan.Pairs, "pairs", 0, "samples of each side (default 9, quick 7)")
	flags.IntVar(&o.plan.Ahead, "ahead", 1, "in rows that decode each input before its write, decode `n` inputs before n writes")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch *clock {
	case "wall":
		o.plan.Clock = measure.Wall
	case "cpu":
		o.plan.Clock, o.cpuClock = measure.CPU, true
	default:
		return o, fmt.Errorf("unknown clock %q", *clock)
	}
	if o.into != "" && (o.json || o.list || o.only != "") {
		return o, errors.New("-into takes tables only")
	}
	if o.only != "" && o.only != "deed" && o.only != "peer" {
		return o, fmt.Errorf("unknown side %q", o.only)
	}
	length, pairs := 100*time.Millisecond, 9
	if o.quick {
		length, pairs = 10*time.Millisecond, 7
	}
	o.plan.Length, o.plan.Pairs = cmp.Or(o.plan.Length, length), cmp.Or(o.plan.Pairs, pairs)
	o.row, err = regexp.Compile(*pattern)
	return o, err
}

// Run measures the rows that args select, and returns the exit code.
func Run(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	var missed int
	if err == nil {
		missed, err = o.profiled(func() (int, error) { return o.deliver(stdout, stderr) })
	}
	switch {
	case err != nil:
		fmt.Fprintln(stderr, "bench:", err)
		return exitFailed
	case missed > 0:
		fmt.Fprintf(stderr, "bench: %d rows miss their bar\n", missed)
		return exitMissed
	}
	return 0
}

// deliver runs, and writes the output to its destination. It only changes a file if all rows were measured.
func (o options) deliver(stdout, stderr io.Writer) (missed int, err error) {
	if o.into == "" {
		return o.run(stdout, stderr)
	}
	var tables bytes.Buffer
	if missed, err = o.run(&tables, stderr); err != nil {
		return missed, err
	}
	return missed, replaceTables(o.into, tables.Bytes())
}

// run measures the selected rows, and returns the number that miss their bar. It prints each table as soon as it is complete. Several rows
// are compared in a process of its own each.
func (o options) run(stdout, stderr io.Writer) (missed int, err error) {
	if !o.json && o.compares() {
		if err := header(stdout, o); err != nil {
			return 0, err
		}
	}
	selected, found := o.selected()
	if found == 0 {
		return 0, fmt.Errorf("no row matches %q", o.row)
	}
	measureRow := o.measure
	if o.compares() && found > 1 {
		if measureRow = o.measureApart; o.cpuProfile != "" || o.memProfile != "" {
			return 0, errors.New("a profile is that of one row, or of rows with -only")
		}
	}
	for _, group := range selected {
		var lines []report.Line
		for _, row := range group.Rows {
			if o.verbose {
				fmt.Fprintln(stderr, row.Name)
			}
			line, err := measureRow(stdout, row)
			if err != nil {
				return missed, fmt.Errorf("%s: %w", row.Name, err)
			}
			if o.compares() && line.Missed() {
				missed++
			}
			lines = append(lines, line)
		}
		if err := o.table(stdout, group, lines); err != nil {
			return missed, err
		}
	}
	return missed, nil
}

// selected returns the groups with the rows that are to be measured, and the number of these.
func (o options) selected() (groups []rows.Group, found int) {
	for _, group := range rows.Groups() {
		group.Rows = slices.DeleteFunc(group.Rows, func(row rows.Row) bool {
			return !o.row.MatchString(row.Name) || o.quick && (row.Large || row.Turns)
		})
		groups, found = append(groups, group), found+len(group.Rows)
	}
	return groups, found
}

// compares reports whether rows are compared with their bars, because both sides are measured.
func (o options) compares() bool { return !o.list && o.only == "" }

// table prints a group's table if the output has tables.
func (o options) table(stdout io.Writer, group rows.Group, lines []report.Line) error {
	if o.json || !o.compares() {
		return nil
	}
	return report.Markdown(stdout, group, lines)
}

// measure measures one row. It prints the row unless the output has tables.
func (o options) measure(stdout io.Writer, row rows.Row) (line report.Line, err error) {
	line.Row = row
	if o.list {
		_, err := fmt.Fprintln(stdout, row.Name)
		return line, err
	}
	deed, peer, err := row.Sides()
	if err != nil {
		return line, err
	}
	if o.only != "" {
		return line, o.alone(stdout, row, map[string]measure.Side{"deed": deed, "peer": peer}[o.only])
	}
	switch plan := o.plan; {
	case row.Kept > 0:
		line.Result, err = measure.CompareRetained(deed, peer, row.Kept)
	case row.Workers > 0: // the processor time of all workers does not show how long they take together
		plan.Clock = measure.Wall
		line.Result, err = measure.Compare(deed, peer, row.Workers, plan)
	default:
		line.Result, err = measure.Compare(deed, peer, 1, plan)
	}
	if err == nil && row.Grows() {
		var quarter measure.Side
		if quarter, err = row.Quarter(); err == nil {
			line.Growth, err = measure.Growth(deed, quarter, o.plan)
		}
	}
	if err == nil && o.json {
		err = report.JSON(stdout, line)
	}
	return line, err
}

// alone measures and prints one side of a row.
func (o options) alone(stdout io.Writer, row rows.Row, side measure.Side) error {
	cost, err := measure.One(side, max(1, row.Workers), o.plan)
	if err == nil {
		_, err = fmt.Fprintf(stdout, "%s\t%s\t%.0f ns/op\t%.0f B/op\t%.1f allocs/op\n",
			row.Name, o.only, cost.Nanoseconds, cost.Bytes, cost.Allocs)
	}
	return err
}
