package checkpipe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/cmd/internal/validation"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Client makes [validation.Checks] by asking a program. The program ends when its standard input does, at the latest with this process. Once a
// check has failed, all fail with the same error.
type Client struct {
	// Program returns a command that starts the program, or an error if there is none. It is called once, for the first check.
	Program func() (*exec.Cmd, error)

	mu        sync.Mutex // held from a question to its answer
	started   bool
	questions *json.Encoder
	answers   *json.Decoder
	program   *exec.Cmd
	messages  bytes.Buffer // what the program writes to its standard error
	schemas   int          // how many have numbers
	err       error        // why checks fail
}

var _ validation.Checks = (*Client)(nil)

// Rules implements [validation.Checks].
func (c *Client) Rules(openAPIV3Schema value.Value) validation.Rules {
	number := 0
	return func(errs field.ErrorList, object, live value.Value) (validation.Checked, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		q := question{Object: textOf(object), Live: textOf(live)}
		if number == 0 {
			c.schemas++
			number, q.OpenAPIV3Schema = c.schemas, textOf(openAPIV3Schema)
		}
		q.Schema = number
		for _, err := range errs {
			q.Known = append(q.Known, err.Type)
		}
		return c.ask(q)
	}
}

// Whole implements [validation.Checks].
func (c *Client) Whole(gvk schema.GVK, subresource string, object, live value.Value) (validation.Checked, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ask(question{Kind: gvk, Subresource: subresource, Object: textOf(object), Live: textOf(live)})
}

// ask returns the answer to q. The caller holds mu.
func (c *Client) ask(q question) (validation.Checked, error) {
	if !c.started {
		c.started, c.err = true, c.start()
	}
	if c.err != nil {
		return validation.Checked{}, c.err
	}
	var a answer
	err := c.questions.Encode(q)
	if err == nil {
		err = c.answers.Decode(&a)
	}
	if err != nil {
		c.err = c.failed(err)
		return validation.Checked{}, c.err
	}
	return validation.Checked{Errors: a.errors(), Warnings: a.Warnings}, nil
}

// start starts the program.
func (c *Client) start() error {
	program, err := c.Program()
	if err != nil {
		return err
	}
	program.Stderr = &c.messages
	in, inErr := program.StdinPipe()
	out, outErr := program.StdoutPipe()
	if err := errors.Join(inErr, outErr); err != nil {
		return err
	}
	if err := program.Start(); err != nil {
		return err
	}
	c.program, c.questions, c.answers = program, json.NewEncoder(in), json.NewDecoder(out)
	return nil
}

// failed returns the error of a program that gave no answer because of err. The program has ended, or failed ends it.
func (c *Client) failed(err error) error {
	if !errors.Is(err, io.EOF) && !errors.Is(err, syscall.EPIPE) {
		_ = c.program.Process.Kill()
	}
	if ended := c.program.Wait(); ended != nil {
		err = ended
	}
	message, _, _ := strings.Cut(c.messages.String(), "\n")
	if message != "" {
		return fmt.Errorf("%s failed: %w: %s", c.program.Path, err, message)
	}
	return fmt.Errorf("%s failed: %w", c.program.Path, err)
}
