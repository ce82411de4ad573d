package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"github.com/deed-project/deed/server/store/file"
)

// verify is the subcommand that says what of a data file is whole. It returns the status that the process ends with: 0 if all of the file
// is whole, 1 if something is not, and 2 if it cannot be read at all.
func verify(args []string, out, errOut io.Writer) int {
	f := pflag.NewFlagSet("deed-apiserver verify", pflag.ContinueOnError)
	f.SetOutput(errOut)
	data := f.String("data", "", "file that a server kept objects in; no process may have it open")
	repair := f.String("repair", "", "new file to write with all records that are whole")
	err := f.Parse(args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return 0
	case err == nil && (*data == "" || f.NArg() > 0):
		err = errors.New("usage: deed-apiserver verify --data FILE [--repair NEW]")
	}
	var report file.Report
	switch {
	case err != nil:
	case *repair != "":
		report, err = file.Repair(*data, *repair)
	default:
		report, err = file.Verify(*data)
	}
	if err != nil {
		fmt.Fprintf(errOut, "deed-apiserver: %v\n", err)
		return 2
	}
	describe(out, report, *data, *repair)
	if len(report.Defects) > 0 {
		return 1
	}
	return 0
}

// describe prints a report.
func describe(out io.Writer, r file.Report, data, repair string) {
	for _, d := range r.Defects {
		fmt.Fprintf(out, "%s: %v", data, d.Err)
		switch {
		case d.Key == "":
			fmt.Fprintf(out, " (revision %d)", d.Revision)
		case d.Earlier > 0:
			fmt.Fprintf(out, "; revision %d of it is whole", d.Earlier)
		default:
			fmt.Fprint(out, "; nothing earlier of it is there")
		}
		fmt.Fprintln(out)
	}
	fmt.Fprintf(out, "%s: %d of %d changes are whole, up to revision %d, with %d records\n",
		data, r.Changes, r.Changes+len(r.Defects), r.Revision, r.Records)
	if repair != "" {
		fmt.Fprintf(out, "%s: has these %d records, and no history\n", repair, r.Records)
	}
}
