// Package releases compares deed's behaviour for the release of a cluster with the k8s.io/apimachinery of that release. It plays random
// histories of custom resources: see package histories. The library of each release runs in a program of its own, package player.
package releases

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/deed-project/deed/oracle/histories"
	"github.com/deed-project/deed/oracle/peer"
	"github.com/deed-project/deed/oracle/releases/player"
)

// Player is a running player. One goroutine at a time may use it.
type Player struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	asked   *histories.World // whose schemas the program has
}

// Start starts the program of a release.
func Start(program string) (*Player, error) {
	p := &Player{command: exec.Command(program, "-test.run=TestServe", "-test.timeout=0", "-serve")}
	p.command.Stderr = os.Stderr
	in, err := p.command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.in, p.out = in, bufio.NewReader(out)
	return p, p.command.Start()
}

// Stop ends the program.
func (p *Player) Stop() error {
	err := p.in.Close()
	_, rest := io.Copy(io.Discard, p.out)
	return errors.Join(err, rest, p.command.Wait())
}

// Answer returns the answer of the release's library to a write. An error of the conversation is one of the answer.
func (p *Player) Answer(w *histories.World, op histories.Op, live []byte) peer.Answer {
	q := player.Question{
		APIVersion: op.APIVersion, Subresource: op.Subresource, Verb: string(op.Verb), Manager: op.Manager, Time: time.Now(),
		Live: live, Body: op.Body,
	}
	if len(live) == 0 {
		q.Live = json.RawMessage("null")
	}
	if p.asked != w {
		q.Builtin, q.Schemas, q.Preserve, q.Versions, q.Kind = w.CRD == nil, w.Schemas, w.Preserve, w.Versions, w.Kind
	}
	reply, err := p.ask(q)
	if err != nil {
		return peer.Answer{Err: fmt.Errorf("the player failed: %w", err)}
	}
	p.asked = w
	if reply.Status != nil {
		failure := &apierrors.StatusError{}
		if err := json.Unmarshal(reply.Status, &failure.ErrStatus); err != nil {
			return peer.Answer{Err: err}
		}
		return peer.AnswerOf(nil, failure)
	}
	if reply.Object == nil {
		return peer.AnswerOf(nil, errors.New(reply.Error))
	}
	return answerOf(reply.Object)
}

// answerOf returns the answer with an object.
func answerOf(text []byte) peer.Answer {
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(text); err != nil {
		return peer.Answer{Err: err}
	}
	return peer.AnswerOf(object, nil)
}

// ask sends a question and reads the reply.
func (p *Player) ask(q player.Question) (reply player.Reply, err error) {
	text, err := json.Marshal(q)
	if err != nil {
		return reply, err
	}
	if _, err := p.in.Write(append(text, '\n')); err != nil {
		return reply, err
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return reply, err
	}
	return reply, json.Unmarshal(line, &reply)
}
