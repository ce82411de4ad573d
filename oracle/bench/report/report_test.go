package report

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/deed-project/deed/oracle/bench/measure"
	"github.com/deed-project/deed/oracle/bench/rows"
)

func lineOf(ratio, deedAllocs float64) Line {
	return Line{
		Row: rows.Row{Name: "work/object", Bar: rows.Bar{AtLeast: 10, Aim: 30}},
		Result: measure.Result{
			Deed: measure.Cost{Nanoseconds: 1234, Allocs: deedAllocs}, Peer: measure.Cost{Nanoseconds: 2.5e6, Allocs: 400},
			Ratio: ratio,
		},
	}
}

func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		ratio, allocs float64
		want          Verdict
		missed        bool
	}{
		{9.9, 0, Below, true}, {9.9, 400, Below, true}, {10, 20, AtLeast, false}, {29.9, 0, AtLeast, false},
		{30, 20, Aim, false}, {30, 21, Allocs, true},
	} {
		l := lineOf(c.ratio, c.allocs)
		if got := l.Verdict(); got != c.want || l.Missed() != c.missed {
			t.Errorf("ratio %v with %v allocations: %q, missed %t", c.ratio, c.allocs, got, l.Missed())
		}
	}
	free := lineOf(1, 400)
	free.Row.Bar = rows.Bar{}
	if free.Verdict() != NoBar || free.Missed() {
		t.Error("a row without bar is judged")
	}
}

// Rows about growth are judged by that, and by not being slower than the peer.
func TestVerdictsOfGrowth(t *testing.T) {
	var hostile rows.Row
	for _, group := range rows.Groups() {
		if group.Rows[0].Grows() {
			hostile = group.Rows[0]
		}
	}
	for _, c := range []struct {
		ratio, growth float64
		want          Verdict
		missed        bool
	}{{0.9, 1, Below, true}, {1, 1.15, AtLeast, false}, {100, 1.16, Grows, true}, {100, 0.5, AtLeast, false}} {
		l := lineOf(c.ratio, 400)
		l.Row, l.Growth = hostile, c.growth
		if got := l.Verdict(); got != c.want || l.Missed() != c.missed {
			t.Errorf("ratio %v, growth %v: %q, missed %t", c.ratio, c.growth, got, l.Missed())
		}
		var b strings.Builder
		if err := Markdown(&b, rows.Group{}, []Line{l}); err != nil || !strings.Contains(b.String(), " growth |") {
			t.Errorf("%v, %s", err, &b)
		}
	}
}

func TestMarkdown(t *testing.T) {
	perField := lineOf(2, 400)
	perField.Row.Fields, perField.Row.Bar = 100, rows.Bar{}
	var b strings.Builder
	if err := Markdown(&b, rows.Group{Title: "T", Doc: "D"}, []Line{lineOf(123.4, 0), perField}); err != nil {
		t.Fatal(err)
	}
	const want = `
## T

D

| row | deed | peer | ratio | at least / aim | deed allocs | peer allocs | ratio | |
|---|---:|---:|---:|---|---:|---:|---:|---|
| work/object | 1.23 µs | 2.50 ms | **123x** | 10 / 30 | 0 | 400 | ∞ | aim |
| work/object | 12.3 ns | 25.0 µs | **2.0x** |  | 4 | 4 | 1.0x |  |
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &b, want)
	}
}

func TestMarkdownOfMemory(t *testing.T) {
	kept := Line{Row: rows.Row{Name: "memory/object", Kept: 1}, Result: measure.Result{
		Deed: measure.Cost{Bytes: 512}, Peer: measure.Cost{Bytes: 3 << 20}, Ratio: 6144,
	}}
	var b strings.Builder
	if err := Markdown(&b, rows.Group{}, []Line{kept}); err != nil {
		t.Fatal(err)
	}
	if want := "| memory/object | 512 B | 3.00 MiB | **6144x** |\n"; !strings.HasSuffix(b.String(), want) {
		t.Errorf("got\n%s\nwant at its end\n%s", &b, want)
	}
}

// A ratio to nothing is infinite, for which JSON has no number.
func TestJSON(t *testing.T) {
	var b strings.Builder
	if err := JSON(&b, lineOf(12, 0)); err != nil {
		t.Fatal(err)
	}
	var got line
	if err := json.Unmarshal([]byte(b.String()), &got); err != nil {
		t.Fatal(err)
	}
	want := line{
		Row: "work/object", Per: "operation", Deed: side{NS: 1234}, Peer: side{NS: 2.5e6, Allocs: 400},
		Ratio: 12, AllocRatio: math.MaxFloat64, AtLeast: 10, Aim: 30, Verdict: AtLeast,
	}
	if got != want || strings.Count(b.String(), "\n") != 1 {
		t.Errorf("got %s", &b)
	}
}

func TestReadJSON(t *testing.T) {
	want := lineOf(12, 40)
	want.Row.Fields, want.Growth, want.Result.Peer.Bytes = 100, 1.5, 800
	var b strings.Builder
	if err := JSON(&b, want); err != nil {
		t.Fatal(err)
	}
	got, err := ReadJSON([]byte(b.String()), want.Row)
	if err != nil || got.Row.Name != want.Row.Name || got.Result != want.Result || got.Growth != want.Growth {
		t.Errorf("got %+v, want %+v, error %v", got, want, err)
	}
	for _, text := range []string{"", "{", `{"row":"work/other"}`} {
		if _, err := ReadJSON([]byte(text), want.Row); err == nil {
			t.Errorf("%q is a line about %s", text, want.Row.Name)
		}
	}
}
