package rows

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/oracle/bench/fixture"
	"github.com/deed-project/deed/oracle/bench/measure"
	"github.com/deed-project/deed/oracle/peer"
)

// deedTurns is deedUnstructured with another object for each run, decoded just before.
func deedTurns(r request) (deedForm, error) {
	form, err := deedVaried(r, fixture.Variant)
	form.inputs = fixture.Many
	return form, err
}

// deedVaried is deedUnstructured with objects that vary makes, one for each run.
func deedVaried(r request, vary func(text []byte, serial int) []byte) (deedForm, error) {
	inputs := variants[map[string]any]{request: r, vary: vary, decode: decode}
	form, err := deedUnstructured(r)
	var decoder managedfields.Decoder
	form.prepare = inputs.prepare
	form.live = func() (managedfields.Object, error) {
		if r.begin(&decoder); inputs.next().live == nil {
			return managedfields.Object{}, nil
		}
		return decoder.FromAny(inputs.current().live)
	}
	form.sent = func() (managedfields.Object, error) { return decoder.FromAny(inputs.current().sent) }
	return form, err
}

// deedPlain is deedTurns without a decoder: each object is converted for itself.
func deedPlain(r request) (deedForm, error) {
	inputs := variants[map[string]any]{request: r, vary: fixture.Variant, decode: decode}
	form, err := deedUnstructured(r)
	form.prepare, form.inputs = inputs.prepare, fixture.Many
	form.live = func() (managedfields.Object, error) { return managedfields.ObjectFromAny(inputs.next().live) }
	form.sent = func() (managedfields.Object, error) { return managedfields.ObjectFromAny(inputs.current().sent) }
	return form, err
}

// deedNewMaps is deedPlain with an answer that shares no maps with what was sent or stored.
func deedNewMaps(r request) (deedForm, error) {
	form, err := deedPlain(r)
	var out any
	form.done = func(o managedfields.Object) error {
		v, err := o.Value()
		out = v.ToAny()
		return err
	}
	form.answer = func() (string, error) { return canonical(out) }
	return form, err
}

// peerTurns is peerUnstructured with the inputs of deedTurns.
func peerTurns(r request, p *peer.Peer) (peerForm, error) { return peerVaried(r, p, fixture.Variant) }

// peerVaried is peerUnstructured with the inputs of deedVaried.
func peerVaried(r request, p *peer.Peer, vary func(text []byte, serial int) []byte) (peerForm, error) {
	inputs := variants[map[string]any]{request: r, vary: vary, decode: decode}
	form, err := peerUnstructured(r, p)
	form.prepare = inputs.prepare
	form.live = func() (runtime.Object, error) {
		if inputs.next().live == nil {
			return p.Decode(nil)
		}
		return &unstructured.Unstructured{Object: inputs.current().live}, nil
	}
	form.sent = func() (runtime.Object, error) { return &unstructured.Unstructured{Object: inputs.current().sent}, nil }
	return form, err
}

// deedTextTurns is deedText with another object for each run.
func deedTextTurns(r request) (deedForm, error) {
	form, err := deedTextVaried(r, fixture.Variant)
	form.inputs = fixture.Many
	return form, err
}

// deedTextVaried is deedText with objects that vary makes, one for each run.
func deedTextVaried(r request, vary func(text []byte, serial int) []byte) (deedForm, error) {
	inputs := variants[[]byte]{request: r, vary: vary, decode: asText}
	form, err := deedText(r)
	var decoder managedfields.Decoder
	form.prepare = inputs.prepare
	form.live = func() (managedfields.Object, error) {
		live := inputs.next().live
		switch r.begin(&decoder); {
		case len(live) == 0:
			return managedfields.Object{}, nil
		case r.verb == apply: // a configuration has too little in common with the object's text
			return managedfields.ParseObject(live)
		}
		return decoder.Parse(live)
	}
	form.sent = func() (managedfields.Object, error) {
		if r.verb == apply {
			return managedfields.ParseObject(inputs.current().sent)
		}
		return decoder.Parse(inputs.current().sent)
	}
	return form, err
}

// peerTextTurns is peerText with the inputs of deedTextTurns.
func peerTextTurns(r request, p *peer.Peer) (peerForm, error) {
	return peerTextVaried(r, p, fixture.Variant)
}

// peerTextVaried is peerText with the inputs of deedTextVaried.
func peerTextVaried(r request, p *peer.Peer, vary func(text []byte, serial int) []byte) (peerForm, error) {
	inputs := variants[[]byte]{request: r, vary: vary, decode: asText}
	form, err := peerText(r, p)
	form.prepare = inputs.prepare
	form.live = func() (runtime.Object, error) { return p.Decode(inputs.next().live) }
	form.sent = func() (runtime.Object, error) { return p.Decode(inputs.current().sent) }
	return form, err
}

// convertMaps does no more than the conversions of an update in turns: maps to documents, and a document back to maps. The
// peer, which needs none, copies the sent maps.
func convertMaps(r request) sides {
	return sides{
		deed: func() (measure.Worker, error) {
			inputs := variants[map[string]any]{request: r, vary: fixture.Variant, decode: decode}
			var out map[string]any
			run := func() error {
				var d managedfields.Decoder
				if _, err := d.FromAny(inputs.next().live); err != nil {
					return err
				}
				o, err := d.FromAny(inputs.current().sent)
				if err == nil {
					out, err = o.AsAny()
				}
				return err
			}
			return measure.Worker{Run: run, Answer: func() (string, error) { return canonical(out) }, Prepare: inputs.prepare}, nil
		},
		peer: func() (measure.Worker, error) {
			inputs := variants[map[string]any]{request: r, vary: fixture.Variant, decode: decode}
			var out any
			run := func() error { out = runtime.DeepCopyJSON(inputs.next().sent); return nil }
			return measure.Worker{Run: run, Answer: func() (string, error) { return canonical(out) }, Prepare: inputs.prepare}, nil
		},
	}
}

// convertText does no more than read the texts of an update, and print the object that was sent.
func convertText(r request) sides {
	return sides{
		deed: func() (measure.Worker, error) {
			inputs := variants[[]byte]{request: r, vary: fixture.Variant, decode: asText}
			var out []byte
			run := func() error {
				var d managedfields.Decoder
				if _, err := d.Parse(inputs.next().live); err != nil {
					return err
				}
				o, err := d.Parse(inputs.current().sent)
				out = o.AppendJSON(nil)
				return err
			}
			answer := func() (string, error) { return canonical(json.RawMessage(out)) }
			return measure.Worker{Run: run, Answer: answer, Prepare: inputs.prepare}, nil
		},
		peer: func() (measure.Worker, error) {
			inputs := variants[[]byte]{request: r, vary: fixture.Variant, decode: asText}
			var out []byte
			run := func() error {
				if _, err := decode(inputs.next().live); err != nil {
					return err
				}
				content, err := decode(inputs.current().sent)
				if err != nil {
					return err
				}
				out, err = json.Marshal(content)
				return err
			}
			answer := func() (string, error) { return canonical(json.RawMessage(out)) }
			return measure.Worker{Run: run, Answer: answer, Prepare: inputs.prepare}, nil
		},
	}
}
