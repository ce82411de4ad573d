package report

import (
	"bufio"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/deed-project/deed/cmd/internal/blame"
	"github.com/deed-project/deed/cmd/internal/explain"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/cmd/internal/wording"
)

// WriteExplanations writes all as text or JSON. It flushes out, and returns the first error of writing.
func WriteExplanations(out *bufio.Writer, format string, all []*explain.Explanation, paint Painter) error {
	if format == FormatJSON {
		list := []explanationJSON{}
		for _, x := range all {
			list = append(list, explanationOf(x))
		}
		return errors.Join(WriteJSON(out, list), out.Flush())
	}
	for i, x := range all {
		if i > 0 {
			out.WriteString("\n")
		}
		writeExplanation(out, x, paint)
	}
	return out.Flush()
}

// writeExplanation writes x as text.
func writeExplanation(out *bufio.Writer, x *explain.Explanation, paint Painter) {
	line := func(name string, texts ...string) {
		for _, text := range texts {
			fmt.Fprintf(out, "  %s %s\n", paint.Paint(Faint, fmt.Sprintf("%-9s", name)), text)
			name = ""
		}
	}
	last := x.Last()
	if x.Found == nil {
		fmt.Fprintln(out, paint.Paint(strong, fmt.Sprintf("%s %s: %s", x.Kind.APIVersion(), x.Kind.Kind, x.Way.Text(x.View))))
	} else {
		fmt.Fprintln(out, paint.Paint(strong, fmt.Sprintf("%v: %s", x.Object, x.Way.Text(x.View))))
		line("place", placeText(x.Found))
		line("value", x.View.Value(x.Way.Path(), last.Value).String())
	}
	line("type", types.TypeText(last.Type))
	line("topology", topologyText(x))
	line("declared", x.Declared)
	line("schema", x.Source)
	if x.Found != nil {
		line("owners", holdersText(x)...)
	}
	for i := len(x.Way) - 2; i >= 0; i-- {
		name := ""
		if i == len(x.Way)-2 {
			name = "above"
		}
		line(name, x.Way[:i+1].Text(x.View)+": "+topologyAbove(x, i)+ownedBySome(ownersAbove(x, i)))
	}
	line("below", wrapWords(x.Fields, 68)...)
	if x.Found != nil {
		line("inside", sharesText(x.Below)...)
	}
	line("rules", rulesOf(x)...)
}

// placeText returns the position of the value.
func placeText(f *explain.Found) string {
	if !f.IsSet {
		return f.Where.String() + " (the object; the field is not set)"
	}
	return f.Where.String()
}

// topologyText describes how the field of x is merged and owned.
func topologyText(x *explain.Explanation) string {
	if x.Atomic > 0 {
		return "part of " + x.Way[:x.Atomic].Text(x.View) + ", which is one value"
	}
	return types.Topology(x.Last().Type)
}

// topologyAbove describes the same for step i of the way.
func topologyAbove(x *explain.Explanation, i int) string {
	if x.Atomic > 0 && i >= x.Atomic {
		return "part of " + x.Way[:x.Atomic].Text(x.View)
	}
	return types.Topology(x.Way[i].Type)
}

// ownersAbove returns the owners of step i of the way, or none without an object.
func ownersAbove(x *explain.Explanation, i int) []manifest.Holder {
	if x.Found == nil {
		return nil
	}
	return x.Above[i]
}

// ownedBySome returns the names of owners in brackets.
func ownedBySome(owners []manifest.Holder) string {
	var names []string
	for _, w := range owners {
		names = append(names, wording.Manager(w.Manager.Name))
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) == 0 {
		return ""
	}
	return " (owned by " + strings.Join(names, ", ") + ")"
}

// holdersText lists the owners of the value, one in a line.
func holdersText(f *explain.Explanation) []string {
	if len(f.Owners) == 0 {
		return []string{nobody}
	}
	var lines []string
	for _, w := range f.Owners {
		text := showHolder(w)
		if f.Through != nil {
			text += ", through " + f.View.Path(f.Through)
		}
		lines = append(lines, text)
	}
	return lines
}

// sharesText lists how many values each manager owns, one manager in a line.
func sharesText(shares []blame.Share) []string {
	var out []string
	for _, s := range shares {
		name := nobody
		if !s.Nobodys {
			name = wording.Manager(s.Manager.Name) + " " + operation(s.Manager)
		}
		out = append(out, wording.Plural(s.Values, "value")+": "+name)
	}
	return out
}

// wrapWords joins words with commas, in lines of at most width bytes where possible.
func wrapWords(words []string, width int) []string {
	var lines []string
	for i, word := range words {
		if i < len(words)-1 {
			word += ","
		}
		if n := len(lines); n > 0 && len(lines[n-1])+1+len(word) <= width {
			lines[n-1] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}
