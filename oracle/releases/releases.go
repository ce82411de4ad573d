// Package releases compares deed's behaviour for the release of a cluster with the k8s.io/apimachinery of that release. It plays random
// histories of custom resources: see package histories. The library of each release runs in a program of its own, package player.
package releases

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/oracle/histories"
	"github.com/deed-project/deed/oracle/peer"
	"github.com/deed-project/deed/oracle/releases/player"
)

// Player is a running player. One goroutine at a time may use it.
type Player struct {
	command *exec.Cmd
	in      *bufio.Writer
	pipe    io.Closer
	out     *bufio.Reader
	asked   map[*histories.World]int // the numbers of the worlds whose schemas the program has
	next    int                      // the number of the next world
	last    []byte                   // the object of the last reply
}

// Start starts the program of a release.
func Start(program string) (*Player, error) {
	p := &Player{asked: map[*histories.World]int{}, command: exec.Command(program, "-test.run=TestServe", "-test.timeout=0", "-serve")}
	p.command.Stderr = os.Stderr
	in, err := p.command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.pipe, p.in, p.out = in, bufio.NewWriter(in), bufio.NewReaderSize(out, 1<<16)
	return p, p.command.Start()
}

// Stop ends the program.
func (p *Player) Stop() error {
	err := p.pipe.Close()
	_, rest := io.Copy(io.Discard, p.out)
	return errors.Join(err, rest, p.command.Wait())
}

// Answer returns the answer of the release's library to a write. An error of the conversation is one of the answer.
func (p *Player) Answer(w *histories.World, op histories.Op, live []byte) peer.Answer {
	q := player.Question{
		APIVersion: op.APIVersion, Subresource: op.Subresource, Verb: string(op.Verb), Manager: op.Manager, Time: time.Now(),
		Live: len(live), Body: len(op.Body),
	}
	p.introduce(w, &q)
	if len(live) > 0 && bytes.Equal(live, p.last) {
		live, q.Live = nil, player.Same
	}
	reply, object, err := p.ask(q, live, op.Body)
	switch {
	case err != nil:
		return peer.Answer{Err: fmt.Errorf("the player failed: %w", err)}
	case reply.Status != nil:
		failure := &apierrors.StatusError{}
		if err := json.Unmarshal(reply.Status, &failure.ErrStatus); err != nil {
			return peer.Answer{Err: err}
		}
		return peer.AnswerOf(nil, failure)
	case object == nil:
		return peer.AnswerOf(nil, errors.New(reply.Error))
	}
	p.last = object
	return answerOf(object)
}

// introduce makes w the world of q. The program then knows no other definition of custom resources than that of w.
func (p *Player) introduce(w *histories.World, q *player.Question) {
	number, ok := p.asked[w]
	if !ok {
		for other, number := range p.asked {
			if w.CRD != nil && other.CRD != nil && !bytes.Equal(w.CRD, other.CRD) {
				q.Forget = append(q.Forget, number)
				delete(p.asked, other)
			}
		}
		number = p.next
		p.next++
		p.asked[w] = number
		q.Builtin, q.Schemas, q.Preserve, q.Versions, q.Kind = w.CRD == nil, w.Schemas, w.Preserve, w.Versions, w.Kind
	}
	q.World = number
}

// answerOf returns the answer with an object, which is text as encoding/json prints it. Of an object, only the managed fields are decoded.
// As in unstructured objects, those that cannot be decoded are none.
func answerOf(text []byte) peer.Answer {
	var object struct {
		Metadata struct{ ManagedFields []metav1.ManagedFieldsEntry }
	}
	var entries []metav1.ManagedFieldsEntry
	if err := json.Unmarshal(text, &object); err == nil && len(object.Metadata.ManagedFields) > 0 {
		entries = object.Metadata.ManagedFields
	}
	answer := peer.AnswerOf(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{ManagedFields: entries}}, nil)
	answer.Object = text
	return answer
}

// ask sends a question, and reads the reply and its object, nil if there is none.
func (p *Player) ask(q player.Question, live, body []byte) (reply player.Reply, object []byte, err error) {
	text, err := json.Marshal(q)
	if err != nil {
		return reply, nil, err
	}
	for _, part := range [][]byte{text, []byte("\n"), live, body} {
		if _, err := p.in.Write(part); err != nil {
			return reply, nil, err
		}
	}
	if err := p.in.Flush(); err != nil {
		return reply, nil, err
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return reply, nil, err
	}
	if err := json.Unmarshal(line, &reply); err != nil || reply.Object == 0 {
		return reply, nil, err
	}
	object = make([]byte, reply.Object)
	_, err = io.ReadFull(p.out, object)
	return reply, object, err
}
