package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"

	"github.com/deed-project/deed/oracle/bench/report"
	"github.com/deed-project/deed/oracle/bench/rows"
)

// measureApart is measure in a new process of this program. Rows of one process would share the heap and the caches, and the cost of a
// row would depend on the rows before it.
func (o options) measureApart(stdout io.Writer, row rows.Row) (line report.Line, err error) {
	program, err := os.Executable()
	if err != nil {
		return line, err
	}
	clock := "wall"
	if o.cpuClock {
		clock = "cpu"
	}
	var failure bytes.Buffer
	child := exec.Command(program, "-json", "-row", "^"+regexp.QuoteMeta(row.Name)+"$", "-clock", clock,
		"-sample", o.plan.Length.String(), "-pairs", strconv.Itoa(o.plan.Pairs), "-ahead", strconv.Itoa(o.plan.Ahead))
	child.Stderr = &failure
	out, err := child.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == exitMissed {
		err = nil
	}
	if err != nil {
		return line, fmt.Errorf("%w: %s", err, bytes.TrimSpace(failure.Bytes()))
	}
	if line, err = report.ReadJSON(out, row); err == nil && o.json {
		err = report.JSON(stdout, line)
	}
	return line, err
}
