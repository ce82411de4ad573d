package report

import (
	"cmp"
	"math"

	"github.com/deed-project/deed/oracle/bench/measure"
	"github.com/deed-project/deed/oracle/bench/rows"
)

// Line is the outcome of one row.
type Line struct {
	Row    rows.Row
	Result measure.Result
	Growth float64 // the exponent by which deed's time grows with the size, of rows that grow
}

// unit returns what the costs of the line are divided by: they are those of one field, or of one byte, where a row says so.
func (l Line) unit() float64 { return float64(max(1, l.Row.Fields, l.Row.Size)) }

// Verdict says how a row does against its bar.
type Verdict string

// The verdicts. Rows without bar have the empty one.
const (
	Aim     Verdict = "aim"    // reaches what is aimed at
	AtLeast Verdict = "ok"     // reaches what is asked for at least
	Below   Verdict = "below"  // is too slow, or allocates too many bytes where the row is about those
	Allocs  Verdict = "allocs" // is fast enough, but allocates too much
	Grows   Verdict = "grows"  // is fast enough at this size, but its cost grows too much
	NoBar   Verdict = ""       // is not judged
)

// Verdict judges the line by its row's bar for time, and by [rows.AllocBar]; or, if it grows, by its growth.
func (l Line) Verdict() Verdict {
	bar := l.Row.Bar
	switch {
	case l.Row.Grows() && l.Result.Ratio < 1:
		return Below
	case l.Row.Grows() && l.Growth > rows.MaxGrowth:
		return Grows
	case l.Row.Grows():
		return AtLeast
	case bar == rows.Bar{}:
		return NoBar
	case l.Row.Size > 0:
		return atMost(l.Result.Deed.Bytes/float64(l.Row.Size), bar)
	case l.Result.Ratio < bar.AtLeast:
		return Below
	case l.Result.AllocRatio() < cmp.Or(l.Row.Allocs, rows.AllocBar).AtLeast:
		return Allocs
	case l.Result.Ratio >= bar.Aim:
		return Aim
	}
	return AtLeast
}

// atMost judges a cost by a limit.
func atMost(cost float64, limit rows.Bar) Verdict {
	switch {
	case cost > limit.AtLeast:
		return Below
	case cost <= limit.Aim:
		return Aim
	}
	return AtLeast
}

// Missed reports whether the row misses what is asked for at least.
func (l Line) Missed() bool {
	v := l.Verdict()
	return v == Below || v == Allocs || v == Grows
}

// finite returns f, and the largest number for what is infinite: JSON has no infinity.
func finite(f float64) float64 { return min(f, math.MaxFloat64) }
