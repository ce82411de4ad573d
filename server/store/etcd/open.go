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

// Connecting to a cluster, and finding out why that fails. etcd's client retries until its deadline, and then reports the deadline and
// nothing else. So after a timeout, Open connects to the members itself, and reports what it finds:
//
//	TLS error of the first member     a certificate is refused, by one side or the other
//	no connection                     the error of the dial
//	a connection                      the member is not ready, or another server has the port

// Config has the addresses of an etcd cluster and the credentials of the client.
type Config struct {
	Endpoints     []string // URLs of the members, which errors quote: without user and password
	CA, Cert, Key string   // PEM files: trusted authorities and a client certificate; empty for the system's authorities and no certificate
	User          string   // empty for an etcd without authentication
	Password      Password // of User
	Keys          Keys
	Now           func() time.Time
}

// Password is a text that cannot be printed, logged or encoded.
//
// It has Format and no String, so every verb of fmt prints the placeholder, and its field is not exported for encoders.
type Password struct{ text string }

// PasswordOf returns text as a Password.
func PasswordOf(text string) Password { return Password{text} }

// Format prints a placeholder for every verb.
func (Password) Format(s fmt.State, _ rune) { io.WriteString(s, "(hidden)") }

// Timeouts of connections, with the values of kube-apiserver.
const (
	dialTimeout      = 20 * time.Second
	keepAlive        = 30 * time.Second
	keepAliveTimeout = 10 * time.Second
	refusalTimeout   = time.Second
)

// SilentError says that no member of a cluster answered in time. The caller may retry.
//
// Members has one error for each endpoint, in their order.
type SilentError struct {
	Members []error // the error of each endpoint
	Err     error   // the error of the client
}

// Error returns the error of each member.
func (e *SilentError) Error() string {
	texts := make([]string, len(e.Members))
	for i, err := range e.Members {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; ")
}

// LogText returns the text, which contains only addresses.
func (e *SilentError) LogText() string { return e.Error() }

// Unwrap returns the error of the client.
func (e *SilentError) Unwrap() error { return e.Err }

// Open returns the store in a cluster. It sends one request to check that the cluster answers; ctx bounds that. The error is a
// [*SilentError] if no member answers. Open returns at most three seconds after ctx is done.
//
// The three seconds are the attempts to find the cause: a TLS connection with an answer, and a plain connection.
func Open(ctx context.Context, c Config) (*Store, error) {
	config := clientv3.Config{
		Endpoints: c.Endpoints, Username: c.User, Password: c.Password.text,
		DialTimeout: timeLeft(ctx), DialKeepAliveTime: keepAlive, DialKeepAliveTimeout: keepAliveTimeout,
		Logger: zap.NewNop(), // errors are returned instead
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
	// The client connects on the first request.
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

// explained returns err with its cause if err is only a timeout, because the client retries and hides the cause. The cause is a certificate
// that the first member refuses or that the client does not trust, or else a [*SilentError].
//
// Members are asked at the same time, so the time does not grow with their number.
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

// refusal returns why the first member refuses the client's certificate, or why the client does not trust the member's. It returns nil if
// neither is the case, or if the member cannot be reached.
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
		_, err = connection.Read(make([]byte, 1))                      // with TLS 1.3 a server refuses a certificate after the handshake
	}
	// A member that says nothing for a second has no objection, and one that cannot be reached has another problem.
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

// isDial reports whether err is about connecting to an address.
func isDial(err error) bool {
	of := (*net.OpError)(nil)
	return errors.As(err, &of) && of.Op == "dial"
}
