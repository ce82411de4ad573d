package command

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/deed-project/deed/server/store/file"
)

// verifyCommand is the subcommand that checks and repairs a data file. It ends with status 0 if all of the file is whole, 1 if
// something is not, and 2 if it cannot be read at all.
func verifyCommand() *cobra.Command {
	var data, repair string
	cmd := &cobra.Command{
		Use:   "verify --data FILE [--repair NEW]",
		Short: "Check a data file, and repair it",
		Args: func(_ *cobra.Command, args []string) error {
			if data == "" || len(args) > 0 {
				return &status{2, errors.New("usage: deed-apiserver verify --data FILE [--repair NEW]")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return verify(cmd.OutOrStdout(), data, repair) },
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &status{2, err} })
	cmd.Flags().StringVar(&data, "data", "", "file that a server kept objects in; no process may have it open")
	cmd.Flags().StringVar(&repair, "repair", "", "new file to write with all records that are whole")
	return cmd
}

// verify reads the file data, and writes the file repair if it has a name.
func verify(out io.Writer, data, repair string) error {
	read := file.Verify
	if repair != "" {
		read = func(string) (file.Report, error) { return file.Repair(data, repair) }
	}
	report, err := read(data)
	if err != nil {
		return &status{2, err}
	}
	describe(out, report, data, repair)
	if len(report.Defects) > 0 {
		return &status{1, nil}
	}
	return nil
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
