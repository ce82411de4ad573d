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
	data, err := c.download(name)
	if err != nil {
		var failed *url.Error
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			err = fmt.Errorf("not fetched within %v: --request-timeout gives it longer", c.Timeout)
		case errors.As(err, &failed):
			err = failed.Err // the inner error does not contain the URL
		}
		c.Problem(notice.InFile(shown(name)), "%s", secret.Open.Error(err))
		return nil
	}
	return &Text{Name: shown(name), Data: data}
}

// download returns the answer of a server for a URL, within the time limit of c.
func (c *Loader) download(name string) (data []byte, err error) {
	ctx := context.Background()
	if c.Timeout > 0 {
		limited, cancel := context.WithTimeout(ctx, c.Timeout)
		defer cancel()
		ctx = limited
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, name, nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answers %s", answer.Status)
	}
	data, err = io.ReadAll(io.LimitReader(answer.Body, maxFetched+1))
	if err == nil && int64(len(data)) > maxFetched {
		err = fmt.Errorf("more than %d MiB: fetch it to a file", maxFetched>>20)
	}
	return data, err
}

// DefaultTimeout is the default time limit of a fetch.
const DefaultTimeout = 30 * time.Second
