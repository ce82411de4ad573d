package histories

import (
	"bytes"
	"fmt"
	"time"

	deed "github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/oracle/peer"
	"github.com/deed-project/deed/oracle/subject"
	"github.com/deed-project/deed/value"
)

// Difference is a write to which the engines give different answers.
type Difference struct {
	Op        Op
	Part      string // of the answer: object, entries, status, or failure when only one of them fails
	Reference string
	Deed      string
}

// String returns both answers, one below the other.
func (d *Difference) String() string {
	return fmt.Sprintf("%s by %q at %s/%s: %s\nreference %s\ndeed      %s",
		d.Op.Verb, d.Op.Manager, d.Op.APIVersion, d.Op.Subresource, d.Part, d.Reference, d.Deed)
}

// Player plays writes to one object in both engines. It uses the wall clock, so run it in a testing/synctest bubble.
type Player struct {
	World   *World
	Live    value.Value           // absent if there is no object
	Observe func(Op, peer.Answer) // called with each answer that both engines gave, unless nil

	// Reference, if set, answers writes to custom resources in the place of the field manager of this program's k8s.io/apimachinery. It gets
	// the live object, which is empty if there is none. Only one of deed's engines is compared with it.
	Reference func(op Op, live []byte) peer.Answer

	// Defer, if set, gets each write with deed's answer, which Play takes for right. The caller asks a reference later, and calls Check.
	Defer func(Exchange)

	text   []byte      // of Live, with struct fields in the reference's order
	agreed []byte      // deed's last object, which equals the reference's
	object deed.Object // deed's last answer, not decoded again
}

// Exchange is a write with deed's answer.
type Exchange struct {
	Op
	World *World
	Time  time.Time // of the write
	Live  []byte    // the object before it, empty if there is none
	Deed  peer.Answer
}

// Check compares a reference's answer with deed's.
func (p *Player) Check(x Exchange, reference peer.Answer) *Difference {
	p.agreed = nil
	return p.compare(x.Op, reference, x.Deed)
}

// Play plays one write. The error is that of an op that the world cannot play; nothing changes then. Nothing changes either if both engines
// refuse the write alike.
func (p *Player) Play(op Op) (*Difference, error) {
	time.Sleep(op.After)
	var err error
	switch op.Verb {
	case Update, Quiet, Store:
		if op.Body, err = p.World.held(op.Body); err != nil {
			return nil, err
		}
	}
	switch op.Verb {
	case Delete:
		return nil, p.Settle(nil)
	case Store:
		return nil, p.Settle(op.Body)
	case Drop:
		next, err := p.World.Without(op.APIVersion)
		if err == nil {
			p.World = next
		}
		return nil, err
	}
	e, err := p.World.at(op.Endpoint)
	if err != nil {
		return nil, err
	}
	read := deed.Object{}
	if !p.Live.IsAbsent() {
		if read, err = deed.ObjectOf(p.World.served(op.Endpoint, p.Live)); err != nil {
			return nil, err
		}
	}
	out, failure := p.answer(e, read, op)
	want := subject.Answer(out, failure)
	if p.Defer != nil {
		p.Defer(Exchange{op, p.World, time.Now(), p.live(op), want})
	} else {
		var diff *Difference
		if want, diff = p.agree(e, op, want); diff != nil {
			return diff, nil
		}
	}
	if p.Observe != nil {
		p.Observe(op, want)
	}
	if p.Reference == nil && p.Defer == nil {
		if diff := p.compareForms(e, op, want); diff != nil {
			return diff, nil
		}
	}
	out, failure = p.answer(e, p.held(op), op)
	if diff := p.compare(op, want, subject.Answer(out, failure)); diff != nil || failure != nil {
		return diff, nil
	}
	err = p.Settle(want.Object)
	p.object = out
	return nil, err
}

// compareForms compares the reference's answer with deed's to the same write in other forms: through the drop-in, and of objects as maps.
func (p *Player) compareForms(e *engines, op Op, want peer.Answer) *Difference {
	if diff := p.compare(op, want, p.ask(e.dropIn, op)); diff != nil {
		return diff
	}
	if out, ok, failure := p.answerMaps(e, op); ok {
		return p.compare(op, want, subject.Answer(out, failure))
	}
	return nil
}

// attempts is the number of runs of the reference before its answer counts as different. It visits managers and versions in map order,
// which some answers depend on. The rarer of two orders comes in one of eight runs, so that one such difference in five thousand is
// reported wrongly.
const attempts = 64

// agree returns the reference's answer to op, and its difference from deed's.
func (p *Player) agree(e *engines, op Op, got peer.Answer) (want peer.Answer, first *Difference) {
	for range attempts {
		want, p.agreed = p.ask(e.peer, op), nil
		diff := p.compare(op, want, got)
		if diff == nil {
			p.agreed = got.Object
			return want, nil
		}
		if first == nil {
			first = diff
		}
	}
	return want, first
}

// held returns the live object of deed's answer, so that managed fields are exactly the bytes that deed wrote.
func (p *Player) held(op Op) deed.Object {
	out := p.object
	if !out.Content.IsAbsent() {
		out.Content = p.World.served(op.Endpoint, out.Content)
	}
	return out
}

// Settle makes text the live object. Empty text means no object.
func (p *Player) Settle(text []byte) (err error) {
	p.Live, p.text, p.object = value.Value{}, nil, deed.Object{}
	if len(text) == 0 {
		return nil
	}
	if p.Live, err = value.Parse(text); err != nil {
		return err
	}
	p.text = text
	p.object, err = deed.ObjectOf(p.Live)
	return err
}

// live returns the text of the live object as a write of op gets it, or nothing if there is none.
func (p *Player) live(op Op) []byte {
	if p.World.structs == nil && p.text != nil {
		return p.World.served(op.Endpoint, p.Live).AppendJSON(nil)
	}
	return p.text
}

// ask returns the reference's answer to op.
func (p *Player) ask(reference *peer.Peer, op Op) peer.Answer {
	live := p.live(op)
	if p.Reference != nil {
		return p.Reference(op, live)
	}
	switch op.Verb {
	case Update:
		return reference.Update(live, op.Body, op.Manager)
	case Quiet:
		return reference.UpdateNoErrors(live, op.Body, op.Manager)
	}
	return reference.Apply(live, op.Body, op.Manager, op.Verb == Force)
}

// answerMaps returns deed's answer to op with both objects as maps, decoded by one decoder for all requests. It reports whether maps can
// hold the objects.
func (p *Player) answerMaps(e *engines, op Op) (out deed.Object, ok bool, err error) {
	body, err := value.Parse(op.Body)
	if err != nil {
		return deed.Object{}, false, nil
	}
	var live deed.Object
	if stored := p.World.served(op.Endpoint, p.Live); !p.Live.IsAbsent() {
		if live, err = objectOfMap(&e.decoder, stored); err != nil {
			return deed.Object{}, false, nil
		}
	}
	sent, err := objectOfMap(&e.decoder, body)
	if err != nil {
		return deed.Object{}, false, nil
	}
	out, err = p.write(e, live, sent, op)
	return out, true, err
}

func objectOfMap(d *deed.Decoder, v value.Value) (deed.Object, error) {
	content, ok := v.ToAny().(map[string]any)
	if !ok {
		return deed.Object{}, fmt.Errorf("%v is no object", v)
	}
	return d.FromAny(content)
}

// answer returns deed's answer to op.
func (p *Player) answer(e *engines, live deed.Object, op Op) (deed.Object, error) {
	sent, err := deed.ParseObject(op.Body)
	if err != nil {
		return deed.Object{}, err
	}
	return p.write(e, live, sent, op)
}

// write makes deed's write of op.
func (p *Player) write(e *engines, live, sent deed.Object, op Op) (deed.Object, error) {
	switch op.Verb {
	case Update:
		return e.deed.Update(live, sent, op.Manager)
	case Quiet:
		out, _ := e.deed.Update(live, sent, op.Manager)
		return out, nil
	}
	e.fail = nil
	out, err := e.deed.Apply(live, sent, op.Manager, op.Verb == Force)
	if err == nil && e.fail != nil {
		err = fmt.Errorf("failed to convert new object to proper version: %w", e.fail)
	}
	if err == nil && p.World.structs != nil && out.Content.Get("apiVersion").Str() != p.World.structs.hub.String() {
		out.Content, err = p.World.structs.convert(out.Content, p.World.structs.hub.String())
	}
	return out, err
}

// compare returns the first part in which two answers to op differ. Objects in structs print in the order of the struct's fields, so their
// values are compared. All else is compared byte for byte; see sameStatus.
func (p *Player) compare(op Op, want, got peer.Answer) *Difference {
	differ := func(part string, reference, deed []byte) *Difference {
		return &Difference{Op: op, Part: part, Reference: string(reference), Deed: string(deed)}
	}
	switch {
	case (want.Err == nil) != (got.Err == nil):
		return &Difference{op, "failure", fmt.Sprint(want.Err), fmt.Sprint(got.Err)}
	case want.Err != nil:
		if !sameStatus(want.Status, got.Status) {
			return differ("status", want.Status, got.Status)
		}
		return nil
	case op.Verb != Quiet && !bytes.Equal(want.Entries, got.Entries): // these may be the live object's, in any order
		return differ("entries", want.Entries, got.Entries)
	}
	if bytes.Equal(got.Object, want.Object) || bytes.Equal(got.Object, p.agreed) {
		return nil
	}
	left, right := canonical(want.Object, p.World.structs != nil), canonical(got.Object, p.World.structs != nil)
	if !bytes.Equal(left, right) {
		return differ("object", left, right)
	}
	return nil
}
