package report

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/deed-project/deed/oracle/bench/rows"
)

// Markdown prints the outcomes of a group's rows as a table under the group's title. Without lines it prints nothing.
func Markdown(w io.Writer, group rows.Group, lines []Line) error {
	if len(lines) == 0 {
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n## %s\n\n%s\n\n", group.Title, group.Doc)
	switch {
	case lines[0].Row.Kept > 0:
		memory(&b, lines)
	case lines[0].Row.Size > 0:
		perByte(&b, lines)
	case lines[0].Row.Grows():
		growth(&b, lines)
	default:
		times(&b, lines)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func times(b *strings.Builder, lines []Line) {
	b.WriteString("| row | deed | peer | ratio | at least / aim | deed allocs | peer allocs | ratio | |\n" +
		"|---|---:|---:|---:|---|---:|---:|---:|---|\n")
	for _, l := range lines {
		deed, peer, unit := l.Result.Deed, l.Result.Peer, l.unit()
		fmt.Fprintf(b, "| %s | %s | %s | **%s** | %s | %s | %s | %s | %s |\n", l.Row.Name,
			duration(deed.Nanoseconds/unit), duration(peer.Nanoseconds/unit), factor(l.Result.Ratio), bar(l.Row.Bar),
			count(deed.Allocs/unit), count(peer.Allocs/unit), factor(l.Result.AllocRatio()), l.Verdict())
	}
}

func memory(b *strings.Builder, lines []Line) {
	b.WriteString("| row | deed | peer | ratio |\n|---|---:|---:|---:|\n")
	for _, l := range lines {
		fmt.Fprintf(b, "| %s | %s | %s | **%s** |\n", l.Row.Name,
			size(l.Result.Deed.Bytes), size(l.Result.Peer.Bytes), factor(l.Result.Ratio))
	}
}

func perByte(b *strings.Builder, lines []Line) {
	b.WriteString("| row | deed | peer | ratio | at most / aim | |\n|---|---:|---:|---:|---|---|\n")
	for _, l := range lines {
		size := float64(l.Row.Size)
		deed, peer := l.Result.Deed.Bytes/size, l.Result.Peer.Bytes/size
		fmt.Fprintf(b, "| %s | %.1f | %.1f | **%s** | %s | %s |\n", l.Row.Name, deed, peer, factor(peer/deed), bar(l.Row.Bar), l.Verdict())
	}
}

func growth(b *strings.Builder, lines []Line) {
	b.WriteString("| row | deed | peer | ratio | growth | |\n|---|---:|---:|---:|---:|---|\n")
	for _, l := range lines {
		fmt.Fprintf(b, "| %s | %s | %s | **%s** | %.2f | %s |\n", l.Row.Name, duration(l.Result.Deed.Nanoseconds),
			duration(l.Result.Peer.Nanoseconds), factor(l.Result.Ratio), l.Growth, l.Verdict())
	}
}

func bar(b rows.Bar) string {
	if b == (rows.Bar{}) {
		return ""
	}
	return fmt.Sprintf("%g / %g", b.AtLeast, b.Aim)
}

// duration prints nanoseconds in three digits.
func duration(ns float64) string {
	switch {
	case ns >= 1e9:
		return digits(ns/1e9) + " s"
	case ns >= 1e6:
		return digits(ns/1e6) + " ms"
	case ns >= 1e3:
		return digits(ns/1e3) + " µs"
	}
	return digits(ns) + " ns"
}

// size prints bytes in three digits.
func size(bytes float64) string {
	switch {
	case bytes >= 1<<20:
		return digits(bytes/(1<<20)) + " MiB"
	case bytes >= 1<<10:
		return digits(bytes/(1<<10)) + " KiB"
	}
	return digits(bytes) + " B"
}

// count prints how often something happens per operation: whole numbers from 10 on.
func count(n float64) string {
	if n >= 10 {
		return fmt.Sprintf("%.0f", n)
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", n), ".0")
}

// factor prints a ratio.
func factor(ratio float64) string {
	switch {
	case math.IsInf(ratio, 1):
		return "∞"
	case ratio >= 100:
		return fmt.Sprintf("%.0fx", ratio)
	}
	return fmt.Sprintf("%.1fx", ratio)
}

// digits prints three digits of a number, as many as there are in front of the point if that is more.
func digits(f float64) string {
	switch {
	case f >= 100:
		return fmt.Sprintf("%.0f", f)
	case f >= 10:
		return fmt.Sprintf("%.1f", f)
	}
	return fmt.Sprintf("%.2f", f)
}
