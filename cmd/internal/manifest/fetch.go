package manifest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/secret"
)

// isURL reports whether name is a URL to fetch.
func isURL(name string) bool {
	return strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://")
}

// shown returns name for messages: a URL loses its password.
func shown(name string) string {
	if !isURL(name) {
		return name
	}
	u, err := url.Parse(name)
	if err != nil {
		return "the URL" // an unparsable URL may have a password anywhere
	}
	return u.Redacted()
}

// maxFetched is the maximum length of a fetched text, in bytes.
var maxFetched int64 = 256 << 20

// fetch returns the text at a URL, or nil with the reason reported.
func (c *Loader) fetch(name string) *Text {
	data, _, err := c.get(name, func(*http.Request) {})
	if err != nil {
		c.Problem(notice.InFile(shown(name)), "%s", secret.Open.Error(c.fetchError(err)))
		return nil
	}
	return &Text{Name: shown(name), Data: data}
}

// fetchError returns err, an error of [Loader.get], without the URL, which may have a password.
func (c *Loader) fetchError(err error) error {
	var failed *url.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("not fetched within %v: --request-timeout gives it longer", c.Timeout)
	case errors.As(err, &failed):
		return failed.Err
	}
	return err
}

// get returns the answer of a server for a URL, within the time limit of c. with changes the request.
func (c *Loader) get(name string, with func(*http.Request)) (data []byte, header http.Header, err error) {
	ctx := context.Background()
	if c.Timeout > 0 {
		limited, cancel := context.WithTimeout(ctx, c.Timeout)
		defer cancel()
		ctx = limited
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, name, nil)
	if err != nil {
		return nil, nil, err
	}
	with(request)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	switch answer.StatusCode {
	case http.StatusOK:
	case http.StatusNotModified:
		return nil, nil, errNotModified
	default:
		return nil, nil, fmt.Errorf("the server answers %s", answer.Status)
	}
	data, err = io.ReadAll(io.LimitReader(answer.Body, maxFetched+1))
	if err == nil && int64(len(data)) > maxFetched {
		err = fmt.Errorf("more than %d MiB: fetch it to a file", maxFetched>>20)
	}
	return data, answer.Header, err
}

// DefaultTimeout is the default time limit of a fetch.
const DefaultTimeout = 30 * time.Second
