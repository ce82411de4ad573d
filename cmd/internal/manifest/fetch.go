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

// isURL reports whether name is that of something that is fetched.
func isURL(name string) bool {
	return strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://")
}

// shown returns a name as messages have it: a URL without the password in it.
func shown(name string) string {
	if !isURL(name) {
		return name
	}
	u, err := url.Parse(name)
	if err != nil {
		return "the URL" // which may have a password anywhere
	}
	return u.Redacted()
}

// maxFetched is how long a text may be that is fetched.
var maxFetched int64 = 256 << 20

// fetch returns the text at a URL, and nil if there is none, with the reason reported.
func (c *Loader) fetch(name string) *Text {
	data, err := c.download(name)
	if err != nil {
		var failed *url.Error
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			err = fmt.Errorf("not fetched within %v: --request-timeout gives it longer", c.Timeout)
		case errors.As(err, &failed):
			err = failed.Err // which says nothing of the URL
		}
		c.Problem(notice.InFile(shown(name)), "%s", secret.Open.Error(err))
		return nil
	}
	return &Text{Name: shown(name), Data: data}
}

// download returns what a server answers for a URL, within the time limit of c.
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

// DefaultTimeout is how long what is fetched may take.
const DefaultTimeout = 30 * time.Second
