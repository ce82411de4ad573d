package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/deed-project/deed/server/store"
	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// Config says where a cluster of etcd is, and who asks it.
type Config struct {
	Endpoints     []string // URLs of its members, which errors name: without user and password
	CA, Cert, Key string   // PEM files: authorities to trust, and a client certificate; empty for the system's authorities and no certificate
	User          string   // where etcd wants to know
	Password      Password // of User
	Keys          Keys
	Now           func() time.Time
}

// Password is a text that cannot be printed, logged or encoded.
type Password struct{ text string }

// PasswordOf returns text as a Password.
func PasswordOf(text string) Password { return Password{text} }

// Format prints that there is a password.
func (Password) Format(s fmt.State, _ rune) { io.WriteString(s, "(hidden)") }

// How long a connection may take, and when one that is silent is looked after: as in kube-apiserver.
const (
	dialTimeout      = 20 * time.Second
	keepAlive        = 30 * time.Second
	keepAliveTimeout = 10 * time.Second
	refusalTimeout   = time.Second
)

// SilentError says that no member of a cluster answered in time. It is worth trying again.
type SilentError struct {
	Members []error // why, for each endpoint
	Err     error   // what the client says
}

// Error says why each member did not answer.
func (e *SilentError) Error() string {
	texts := make([]string, len(e.Members))
	for i, err := range e.Members {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; ")
}

// LogText returns the text, which names addresses.
func (e *SilentError) LogText() string { return e.Error() }

// Unwrap returns what the client says.
func (e *SilentError) Unwrap() error { return e.Err }

// Open returns the store in a cluster, which is asked once whether it is there: ctx bounds how long
// that may take. The error is a [*SilentError] if no member answers, at most three seconds after ctx is done.
func Open(ctx context.Context, c Config) (*Store, error) {
	config := clientv3.Config{
		Endpoints: c.Endpoints, Username: c.User, Password: c.Password.text,
		DialTimeout: timeLeft(ctx), DialKeepAliveTime: keepAlive, DialKeepAliveTimeout: keepAliveTimeout,
		Logger: zap.NewNop(), // what fails is returned
	}
	if files := (transport.TLSInfo{CertFile: c.Cert, KeyFile: c.Key, TrustedCAFile: c.CA}); !files.Empty() || c.CA != "" {
		var err error
		if config.TLS, err = files.ClientConfig(); err != nil {
			return nil, fmt.Errorf("etcd: %w", err)
		}
	}
	client, err := clientv3.New(config)
	if err != nil {
		return nil, explained(err, config)
	}
	s := New(client, c.Keys, c.Now)
	if _, err := s.Range(ctx, store.Range{Prefix: "\x00", Limit: 1}); err != nil {
		return nil, errors.Join(explained(err, config), s.Close())
	}
	return s, nil
}

// timeLeft returns how long a connection may take before ctx is done.
func timeLeft(ctx context.Context) time.Duration {
	if end, ok := ctx.Deadline(); ok {
		return min(dialTimeout, time.Until(end))
	}
	return dialTimeout
}

// explained returns err, or if that says no more than that it took too long, what connecting to the first member says of its
// certificate or ours, or else a [*SilentError]: the client tries again and again, and does not tell why.
func explained(err error, c clientv3.Config) error {
	if errors.Is(err, context.DeadlineExceeded) {
		if refusal := refusal(c); refusal != nil {
			err = refusal
		}
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("etcd at %s: %w", strings.Join(c.Endpoints, ", "), err)
	}
	silent := &SilentError{make([]error, len(c.Endpoints)), err}
	var all sync.WaitGroup
	for i, endpoint := range c.Endpoints {
		all.Go(func() { silent.Members[i] = silence(endpoint) })
	}
	all.Wait()
	return silent
}

// refusal returns how the first member of the cluster refuses the certificate that it is shown, or why its own is not trusted. It is
// nil if neither is so, or the member cannot be reached.
func refusal(c clientv3.Config) error {
	address, ok := strings.CutPrefix(c.Endpoints[0], "https://")
	if c.TLS == nil || !ok {
		return nil
	}
	config := c.TLS.Clone()
	config.NextProtos = []string{"h2"}
	connection, err := tls.DialWithDialer(&net.Dialer{Timeout: refusalTimeout}, "tcp", address, config)
	if err == nil {
		defer connection.Close()
		_ = connection.SetReadDeadline(time.Now().Add(refusalTimeout)) // never fails on an open connection
		_, err = connection.Read(make([]byte, 1))                      // who refuses a certificate says so behind the handshake
	}
	if slow := net.Error(nil); errors.As(err, &slow) && slow.Timeout() || isDial(err) {
		return nil
	}
	return err
}

// silence returns why the member at endpoint does not answer.
func silence(endpoint string) error {
	address := endpoint
	if _, rest, ok := strings.Cut(endpoint, "://"); ok {
		address = rest
	}
	connection, err := net.DialTimeout("tcp", strings.TrimSuffix(address, "/"), refusalTimeout)
	if err != nil {
		return fmt.Errorf("etcd at %s does not answer: %w", endpoint, err)
	}
	connection.Close()
	return fmt.Errorf("etcd at %s does not answer: it takes connections, but is not ready or is no etcd", endpoint)
}

// isDial reports whether err is about reaching an address.
func isDial(err error) bool {
	of := (*net.OpError)(nil)
	return errors.As(err, &of) && of.Op == "dial"
}
