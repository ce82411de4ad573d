package histories

import (
	"fmt"
	"time"

	"github.com/deed-project/deed/internal/testing/gen"
	"github.com/deed-project/deed/value"
)

// Writer makes the writes of a history, each about the object after the earlier ones.
type Writer struct {
	*gen.Choices
	player   *Player
	managers []string
	crowd    bool                   // many updaters with few writes each
	bare     bool                   // the object never gets a UID
	last     map[string]value.Value // last configuration of each manager
}

// cast are the managers of most histories: ordinary names, names with a meaning, and awkward names.
var cast = []string{
	"alpha", "beta", "gamma", "kubectl", "delta", "kubectl", "", "ancient-changes", "before-first-apply", `we<ird&"name`,
	"current-operation", "unknown", "日本", "alpha2",
}

// NewWriter returns a writer for the object of p.
func NewWriter(c *gen.Choices, p *Player) *Writer {
	out := &Writer{Choices: c, player: p, crowd: c.Chance(15), bare: c.Chance(15), last: map[string]value.Value{}}
	start := c.N(4)
	for range 5 {
		out.managers = append(out.managers, cast[start%len(cast)])
		start += 1 + c.N(4)
	}
	for i := range 14 {
		if out.crowd {
			out.managers = append(out.managers, fmt.Sprintf("updater-%02d", i))
		}
	}
	return out
}

// Next makes a write to the current object.
func (w *Writer) Next() Op {
	live := w.player.Live
	op := Op{Verb: Update, Endpoint: w.endpoint(), Manager: gen.Pick(w.Choices, w.managers...), After: w.pause()}
	switch {
	case live.IsAbsent():
		return w.create(op)
	case !w.bare && live.Get("metadata", "uid").IsAbsent():
		return w.store(op, w.identified(live))
	case w.crowd && w.Chance(70):
		return w.update(op, live)
	}
	switch n := w.N(100); {
	case n < 24:
		op.Verb = Apply
		return w.apply(op, live)
	case n < 42:
		op.Verb = Force
		return w.apply(op, live)
	case n < 84:
		return w.update(op, live)
	case n < 90:
		op.Verb = Quiet
		return w.update(op, live)
	case n < 95:
		return w.update(op, w.recorded(live))
	case n < 98:
		return w.store(op, w.withEntries(live, w.tampered(live)))
	case n == 98 && len(w.player.World.Versions) > 1 && w.player.World.CRD != nil && w.player.World.without == "":
		op.Verb, op.APIVersion = Drop, w.player.World.Versions[1]
		return op
	}
	op.Verb = Delete
	return op
}

func (w *Writer) endpoint() Endpoint {
	e := Endpoint{APIVersion: w.player.World.Versions[0]}
	if w.Chance(35) {
		e.APIVersion = gen.Pick(w.Choices, w.player.World.Versions...)
	}
	if w.Chance(18) {
		e.Subresource = gen.Pick(w.Choices, w.player.World.Subresources()...)
	}
	return e
}

func (w *Writer) pause() time.Duration {
	return gen.Pick(w.Choices, time.Minute, time.Second, 0, time.Millisecond, 400*time.Millisecond, time.Hour)
}

func (w *Writer) create(op Op) Op {
	switch n := w.N(10); {
	case n < 4:
		op.Verb = Apply
		return w.apply(op, value.Value{})
	case n < 5:
		op.Verb = Force
		return w.apply(op, value.Value{})
	}
	object := w.fresh(op.Endpoint)
	admitted, err := w.player.World.Admit(op.Endpoint, object)
	if err != nil {
		return w.create(op)
	}
	if w.Chance(20) { // an old object without managers
		return w.store(op, w.identified(admitted))
	}
	op.Body = admitted.AppendJSON(nil)
	return op
}

// identified returns object with the metadata that a server sets at creation.
func (w *Writer) identified(object value.Value) value.Value {
	metadata := object.Get("metadata").
		With("uid", value.String("0a1b2c3d")).With("resourceVersion", value.String("7")).With("generation", value.Int(1)).
		With("creationTimestamp", value.String("2000-01-01T00:00:00Z"))
	return object.With("metadata", metadata)
}

func (w *Writer) store(op Op, object value.Value) Op {
	op.Verb, op.Body = Store, object.AppendJSON(nil)
	return op
}

// apply makes the configuration of an apply: the manager's last one, unchanged or changed, a changed part of the live object, or a new one.
func (w *Writer) apply(op Op, live value.Value) Op {
	last, again := w.last[op.Manager]
	var config value.Value
	for range 6 {
		switch n := w.N(10); {
		case again && n < 2 && last.Get("apiVersion").Str() == op.APIVersion:
			config = last
		case again && n < 5:
			config = w.changed(last.With("apiVersion", value.String(op.APIVersion)), op.Endpoint, 1+w.N(2), false)
		case n < 9 && !live.IsAbsent():
			config = w.changed(w.part(live, op.Endpoint), op.Endpoint, w.N(3), false)
		default:
			config = w.fresh(op.Endpoint)
		}
		if w.player.World.structs == nil {
			break
		}
		if _, err := w.player.World.Admit(op.Endpoint, config); err == nil {
			break
		}
		config = w.player.World.Seeds[op.APIVersion][0]
	}
	w.last[op.Manager] = config
	if w.Chance(5) {
		config = w.unfit(config, op.Endpoint, live)
	}
	op.Body = config.AppendJSON(nil)
	return op
}

// update makes the new object of an update: the live one with up to three changes, and with some treatment of managed fields.
func (w *Writer) update(op Op, live value.Value) Op {
	changes := w.N(4)
	if w.crowd {
		changes = 1
	}
	seen, err := w.player.World.Seen(op.Endpoint, live)
	if err != nil { // only the hub can express the object
		seen = live
	}
	admitted := live
	for range 6 {
		object, err := w.player.World.Admit(op.Endpoint, w.changed(seen, op.Endpoint, changes, w.Chance(10)))
		if err == nil {
			admitted = object
			break
		}
	}
	switch n := w.N(100); {
	case n < 55: // most clients: they send the managed fields that they have read
	case n < 80:
		admitted = w.withEntries(admitted, value.Value{})
	case n < 83:
		admitted = w.withEntries(admitted, value.Null())
	case n < 86:
		admitted = w.withEntries(admitted, value.List())
	case n < 89:
		admitted = w.withEntries(admitted, value.List(value.Object()))
	default:
		admitted = w.withEntries(admitted, w.tampered(live))
	}
	op.Body = admitted.AppendJSON(nil)
	return op
}

func (w *Writer) withEntries(object, entries value.Value) value.Value {
	return object.With("metadata", object.Get("metadata").With("managedFields", entries))
}
