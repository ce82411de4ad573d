// Package releases compares deed's behaviour for the release of a cluster with the k8s.io/apimachinery of that release. It plays the same
// random histories in the libraries of several releases: see package histories. Each library runs in a program of its own, package player.
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
	known   *Known
}

// Known has the last answers with an object, by their place among the writes. Players of the same histories share it, since most of them
// answer alike.
type Known struct{ answers []peer.Answer }

// Start starts the program of a release. The program collects garbage seldom, because that would take a third of its time.
func Start(program string, known *Known) (*Player, error) {
	p := &Player{
		asked: map[*histories.World]int{}, known: known,
		command: exec.Command(program, "-test.run=TestServe", "-test.timeout=0", "-serve"),
	}
	p.command.Env = append(os.Environ(), "GOGC=800")
	p.command.Stderr = os.Stderr
	in, err := p.command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.pipe, p.in, p.out = in, bufio.NewWriterSize(in, 1<<16), bufio.NewReaderSize(out, 1<<16)
	return p, p.command.Start()
}

// Stop ends the program.
func (p *Player) Stop() error {
	err := p.pipe.Close()
	_, rest := io.Copy(io.Discard, p.out)
	return errors.Join(err, rest, p.command.Wait())
}

// Answers returns the answers of the release's library to writes. An error of the conversation is one of the answers.
func (p *Player) Answers(writes []histories.Exchange) []peer.Answer {
	sent := make(chan error, 1)
	go func() { sent <- p.send(writes) }() // while the program answers, so that no pipe is full
	out := make([]peer.Answer, len(writes))
	for i := range out {
		out[i] = p.receive(i)
	}
	if err := <-sent; err != nil {
		out[0] = peer.Answer{Err: fmt.Errorf("the player failed: %w", err)}
	}
	return out
}

// send sends the questions for writes.
func (p *Player) send(writes []histories.Exchange) error {
	for _, x := range writes {
		q := player.Question{
			APIVersion: x.APIVersion, Subresource: x.Subresource, Verb: string(x.Verb), Manager: x.Manager, Time: x.Time,
			Live: len(x.Live), Body: len(x.Body),
		}
		p.introduce(x.World, &q)
		text, err := json.Marshal(q)
		if err != nil {
			return err
		}
		for _, part := range [][]byte{text, []byte("\n"), x.Live, x.Body} {
			if _, err := p.in.Write(part); err != nil {
				return err
			}
		}
	}
	return p.in.Flush()
}

// receive receives answer i.
func (p *Player) receive(i int) peer.Answer {
	reply, object, err := p.reply()
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
	for len(p.known.answers) <= i {
		p.known.answers = append(p.known.answers, peer.Answer{})
	}
	if known := &p.known.answers[i]; !bytes.Equal(object, known.Object) {
		*known = answerOf(object)
	}
	return p.known.answers[i]
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

// reply reads a reply and its object, nil if there is none.
func (p *Player) reply() (reply player.Reply, object []byte, err error) {
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
