package report

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/deed-project/deed/oracle/bench/measure"
	"github.com/deed-project/deed/oracle/bench/rows"
)

// side is what one side of a row costs, as JSON.
type side struct {
	NS     float64 `json:"ns"`
	Allocs float64 `json:"allocs"`
	Bytes  float64 `json:"bytes"`
}

// line is a Line as JSON.
type line struct {
	Row        string  `json:"row"`
	Per        string  `json:"per"` // operation, field, object or, of the object, byte
	Deed       side    `json:"deed"`
	Peer       side    `json:"peer"`
	Ratio      float64 `json:"ratio"`
	AllocRatio float64 `json:"allocRatio"` // the largest float64 when only deed allocates nothing
	AtLeast    float64 `json:"atLeast,omitempty"`
	Aim        float64 `json:"aim,omitempty"`
	Growth     float64 `json:"growth,omitempty"`
	Verdict    Verdict `json:"verdict,omitempty"`
}

// JSON prints l as one line of JSON.
func JSON(w io.Writer, l Line) error {
	out := line{
		Row: l.Row.Name, Per: "operation", Ratio: l.Result.Ratio, AllocRatio: finite(l.Result.AllocRatio()),
		AtLeast: l.Row.Bar.AtLeast, Aim: l.Row.Bar.Aim, Growth: l.Growth, Verdict: l.Verdict(),
	}
	switch {
	case l.Row.Fields > 0:
		out.Per = "field"
	case l.Row.Kept > 0:
		out.Per = "object"
	case l.Row.Size > 0:
		out.Per = "byte"
	}
	deed, peer, unit := l.Result.Deed, l.Result.Peer, l.unit()
	out.Deed = side{deed.Nanoseconds / unit, deed.Allocs / unit, deed.Bytes / unit}
	out.Peer = side{peer.Nanoseconds / unit, peer.Allocs / unit, peer.Bytes / unit}
	return json.NewEncoder(w).Encode(out)
}

// ReadJSON returns the line about row that [JSON] printed as text.
func ReadJSON(text []byte, row rows.Row) (Line, error) {
	var in line
	if err := json.Unmarshal(text, &in); err != nil {
		return Line{}, err
	}
	if in.Row != row.Name {
		return Line{}, fmt.Errorf("a line about %q, want one about %q", in.Row, row.Name)
	}
	out := Line{Row: row, Growth: in.Growth}
	out.Result = measure.Result{Deed: in.Deed.cost(out.unit()), Peer: in.Peer.cost(out.unit()), Ratio: in.Ratio}
	return out, nil
}

// cost returns the cost of an operation, of which s is one part of so many.
func (s side) cost(parts float64) measure.Cost {
	return measure.Cost{Nanoseconds: s.NS * parts, Allocs: s.Allocs * parts, Bytes: s.Bytes * parts}
}
