package cli

import (
	"bufio"
	"errors"

	"github.com/deed-project/deed/cmd/internal/dryrun"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/report"
)

// handoverPrinter prints handovers and writes their outcomes to files.
type handoverPrinter struct {
	*cli
	flags   handoverFlags
	out     *bufio.Writer
	several bool
	count   int
	patches *report.PatchPrinter
	objects *report.Printer
	files   *manifest.Rewriter // nil if nothing is written
	err     error
}

func (c *cli) newHandoverPrinter(f handoverFlags, several bool, files *manifest.Rewriter) *handoverPrinter {
	p := &handoverPrinter{cli: c, flags: f, out: bufio.NewWriter(c.out), several: several, files: files}
	switch f.format.value {
	case formatPatch, formatKubectl:
		p.patches = &report.PatchPrinter{Log: c.Log, Out: p.out, Commands: f.format.value == formatKubectl}
	case report.FormatText:
	default:
		p.objects = report.NewPrinter(p.out, f.format.value, true, several)
	}
	return p
}

// print prints h and buffers its outcome for the files.
func (p *handoverPrinter) print(h *dryrun.Handover) {
	switch {
	case p.patches != nil:
		p.failed(h, p.patches.Print(h))
	case p.objects != nil:
		p.failed(h, p.objects.Print(h.After))
	default:
		if p.count++; p.count > 1 {
			p.out.WriteString("\n")
		}
		report.PrintHandover(p.out, h)
	}
	p.out.Flush() // print at once; close returns the error
	if len(h.Removed)+len(h.Conflicts) > 0 {
		p.Raise(notice.ExitFinding)
	}
	if p.files == nil || h.Note != "" {
		return
	}
	note := p.flags.put.note(h.Live.Object, "handed over")
	if p.flags.format.value != report.FormatText {
		note = ""
	}
	p.failed(h, p.files.Set(h.Live, h.After, note))
}

// failed records err, an error of printing or writing h, if it is not nil.
func (p *handoverPrinter) failed(h *dryrun.Handover, err error) {
	p.err = errors.Join(p.err, h.Live.View().Redact(err))
}

// close ends the output and writes the files.
func (p *handoverPrinter) close() error {
	if p.objects != nil {
		p.err = errors.Join(p.err, p.objects.Close())
	}
	if err := p.flush(p.out, p.err); err != nil || p.files == nil {
		return err
	}
	p.files.Flush()
	return nil
}
