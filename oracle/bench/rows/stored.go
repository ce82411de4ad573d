package rows

import (
	"encoding/json"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/oracle/bench/measure"
)

// stored holds an object in memory, read from its JSON text: deed's against the peer's, which is a map or a Go struct.
func stored(r request, structs bool) (sides, error) {
	reference, err := r.kind.Peer(structs)
	if err != nil {
		return sides{}, err
	}
	return sides{
		deed: func() (measure.Worker, error) {
			var object managedfields.Object
			run := func() (err error) { object, err = managedfields.ParseObject(r.live); return err }
			answer := func() (string, error) { return canonical(json.RawMessage(object.AppendJSON(nil))) }
			return measure.Worker{Run: run, Answer: answer}, nil
		},
		peer: func() (measure.Worker, error) {
			var object runtime.Object
			run := func() (err error) { object, err = reference.Decode(r.live); return err }
			return measure.Worker{Run: run, Answer: func() (string, error) { return canonical(object) }}, nil
		},
	}, nil
}

// textOf is the peer of a row that compares what deed keeps of an object with the object's JSON text.
func textOf(r request) (sides, error) {
	both, err := stored(r, false)
	both.peer = func() (measure.Worker, error) {
		var text []byte
		run := func() error { text = append([]byte(nil), r.live...); return nil }
		return measure.Worker{Run: run, Answer: func() (string, error) { return canonical(json.RawMessage(text)) }}, nil
	}
	return both, err
}

// thousands prints n with a comma between thousands.
func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	rest := strconv.Itoa(n % 1000)
	return thousands(n/1000) + "," + "000"[len(rest):] + rest
}
