package manifest

import (
	"context"
	"errors"
	"fmt"
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

// fetch returns the text at a URL, or nil with the reason reported.
func (c *Loader) fetch(name string) *Text {
	if c.Download == nil {
		c.Problem(notice.InFile(shown(name)), "URLs are not fetched here")
		return nil
	}
	data, err := c.Download(name, c.Timeout)
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

// DefaultTimeout is the default time limit of a fetch.
const DefaultTimeout = 30 * time.Second
