package manifest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
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
	where := notice.InFile(shown(name))
	if c.Download == nil {
		c.Problem(where, "URLs are not fetched here")
		return nil
	}
	data, err := c.Download(name, c.Timeout, c.keeps)
	var stale *StaleError
	switch {
	case err != nil && data == nil:
		c.Problem(where, "%s", secret.Open.Error(c.fetchError(err)))
		return nil
	case errors.As(err, &stale):
		c.Warn(where, "%s: the copy of an earlier run is used", secret.Open.Error(c.fetchError(stale.Err)))
	case err != nil:
		c.Warn(where, "%s", secret.Open.Error(err))
	}
	return &Text{Name: shown(name), Data: data}
}

// StaleError says that a text is the copy of an earlier run, and why it could not be fetched.
type StaleError struct{ Err error }

// Error returns the reason.
func (e *StaleError) Error() string { return secret.Open.Error(e.Err) }

// Unwrap returns the reason.
func (e *StaleError) Unwrap() error { return e.Err }

// fetchError returns err, an error of [Loader.Download], without the URL, which may have a password.
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

// isArchive reports whether name is that of an archive: .tar.gz, .tgz or .zip. name may be a URL.
func isArchive(name string) bool {
	name, _, _ = strings.Cut(strings.ToLower(name), "?")
	return slices.ContainsFunc([]string{".tar.gz", ".tgz", ".zip"}, func(suffix string) bool { return strings.HasSuffix(name, suffix) })
}

// unpacked returns the manifests in an archive. It reports an archive that cannot be read.
func (c *Loader) unpacked(name string, data []byte) []*Text {
	if c.Unpack == nil {
		c.Problem(notice.InFile(name), "archives are not read here")
		return nil
	}
	texts, err := c.Unpack(name, data)
	if err != nil {
		c.Problem(notice.InFile(name), "%s", secret.Open.Error(err))
	}
	return texts
}

// DefaultTimeout is the default time limit of a fetch.
const DefaultTimeout = 30 * time.Second
