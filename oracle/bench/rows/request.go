package rows

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/oracle/bench/fixture"
	"github.com/deed-project/deed/oracle/bench/measure"
	"github.com/deed-project/deed/oracle/peer"
)

// verb is what a request does.
type verb uint8

const (
	update verb = iota
	apply
)

// request is a write to the field manager of kind. It is the work of most rows.
type request struct {
	kind       fixture.Kind
	verb       verb
	manager    string
	live, sent []byte // empty live means that there is no object yet
	known      bool   // deed's caller keeps its decoder from write to write
}

// deedForm is how deed's caller holds objects: what comes before and after the field manager.
type deedForm struct {
	live    func() (managedfields.Object, error)
	sent    func() (managedfields.Object, error)
	done    func(managedfields.Object) error
	answer  func() (string, error) // what done was given last
	prepare func(n int) error
	inputs  int // see [measure.Worker]
}

// peerForm is how the peer's caller holds objects.
type peerForm struct {
	live, sent func() (runtime.Object, error)
	done       func(runtime.Object) error
	answer     func() (string, error)
	prepare    func(n int) error
}

// begin makes d, with which the objects of the write before were read, the decoder of another write: a new one, unless the
// caller keeps it from write to write.
func (r request) begin(d *managedfields.Decoder) {
	if !r.known {
		*d = managedfields.Decoder{}
	}
}

// form is how both callers hold objects.
type form struct {
	structs bool // as Go structs, so that kinds have the fields that these print
	known   bool // see request
	served  bool // deed defaults objects and prints them as Go structs do, which the peer does not
	deed    func(request) (deedForm, error)
	peer    func(request, *peer.Peer) (peerForm, error)
}

// The forms.
var (
	maps       = form{deed: deedUnstructured, peer: peerUnstructured}
	cold       = form{deed: deedCold, peer: peerCold}
	text       = form{deed: deedText, peer: peerText}
	servedText = form{served: true, deed: deedText, peer: peerText}
	textCold   = form{deed: deedTextCold, peer: peerTextCold}
	turns      = form{deed: deedTurns, peer: peerTurns}
	plainTurns = form{deed: deedPlain, peer: peerTurns}
	newTurns   = form{deed: deedNewMaps, peer: peerTurns}
	textTurns  = form{deed: deedTextTurns, peer: peerTextTurns}
	structs    = form{structs: true, deed: deedStructs, peer: peerStructs}
	sameStruct = form{structs: true, deed: deedSameStruct, peer: peerStructs}

	knownMaps   = form{known: true, deed: deedUnstructured, peer: peerUnstructured}
	knownStruct = form{known: true, structs: true, deed: deedSameStruct, peer: peerStructs}
)

// sides returns both ways to answer the request.
func (r request) sides(f form) (both sides, err error) {
	if both.deed, err = r.deed(f); err != nil {
		return sides{}, err
	}
	both.peer, err = r.peer(f)
	return both, err
}

// deed returns the side of the request that deed's field manager is. All workers share the field manager.
func (r request) deed(f form) (measure.Side, error) {
	manager, err := r.kind.Deed(f.structs)
	if f.served {
		manager, err = r.kind.Served()
	}
	if err != nil {
		return nil, err
	}
	r.known = f.known
	return func() (measure.Worker, error) {
		form, err := f.deed(r)
		if err != nil {
			return measure.Worker{}, err
		}
		var refusal error
		run := func() error {
			live, err := form.live()
			if err != nil {
				return err
			}
			sent, err := form.sent()
			if err != nil {
				return err
			}
			var out managedfields.Object
			if r.verb == update {
				out, err = manager.Update(live, sent, r.manager)
			} else {
				out, err = manager.Apply(live, sent, r.manager, false)
			}
			var conflicts merge.Conflicts
			if errors.As(err, &conflicts) {
				refusal = conflicts
				return nil
			} else if err != nil {
				return err
			}
			return form.done(out)
		}
		answer := func() (string, error) { return orRefusal(refusal, form.answer) }
		return measure.Worker{Run: run, Answer: answer, Prepare: form.prepare, Inputs: form.inputs}, nil
	}, nil
}

// peer returns the side of the request that the reference's field manager is.
func (r request) peer(f form) (measure.Side, error) {
	reference, err := r.kind.Peer(f.structs)
	if err != nil {
		return nil, err
	}
	manager := reference.Manager()
	return func() (measure.Worker, error) {
		form, err := f.peer(r, reference)
		if err != nil {
			return measure.Worker{}, err
		}
		var refusal error
		run := func() error {
			live, err := form.live()
			if err != nil {
				return err
			}
			sent, err := form.sent()
			if err != nil {
				return err
			}
			var out runtime.Object
			if r.verb == update {
				out, err = manager.Update(live, sent, r.manager)
			} else {
				out, err = manager.Apply(live, sent, r.manager, false)
			}
			if apierrors.IsConflict(err) {
				refusal = err
				return nil
			} else if err != nil {
				return err
			}
			return form.done(out)
		}
		answer := func() (string, error) { return orRefusal(refusal, form.answer) }
		return measure.Worker{Run: run, Answer: answer, Prepare: form.prepare}, nil
	}, nil
}

// orRefusal returns the message of a refusal if there is one, and else the answer.
func orRefusal(refusal error, answer func() (string, error)) (string, error) {
	if refusal == nil {
		return answer()
	}
	return fmt.Sprintf("refused: %v", refusal), nil
}
