package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/deed-project/deed/server/store"
	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// Config says where a cluster of etcd is, and who asks it.
type Config struct {
	Endpoints      []string // URLs of its members
	CA, Cert, Key  string   // PEM files: whom to trust, and who to be; empty for those of the system, and for nobody
	User, Password string   // where etcd wants to know
	Keys           Keys
	Now            func() time.Time
}

// How long a connection may take, and when one that is silent is looked after: as in kube-apiserver.
const (
	dialTimeout      = 20 * time.Second
	keepAlive        = 30 * time.Second
	keepAliveTimeout = 10 * time.Second
	refusalTimeout   = 2 * time.Second
)

// Open returns the store in a cluster, which is asked once whether it is there: ctx bounds how long
// that may take.
func Open(ctx context.Context, c Config) (*Store, error) {
	config := clientv3.Config{
		Endpoints: c.Endpoints, Username: c.User, Password: c.Password,
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
		return nil, fmt.Errorf("etcd at %v: %w", c.Endpoints, orRefusal(err, config))
	}
	s := New(client, c.Keys, c.Now)
	if _, err := s.Range(ctx, store.Range{Prefix: "\x00", Limit: 1}); err != nil {
		closeErr := s.Close()
		return nil, fmt.Errorf("etcd at %v: %w", c.Endpoints, errors.Join(orRefusal(err, config), closeErr))
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

// orRefusal returns err, or if that says no more than that it took too long, how the first member of the cluster refuses the certificate
// that it is shown, or shows one that is not trusted, if it does: the client tries again and again, and does not tell.
func orRefusal(err error, c clientv3.Config) error {
	if !errors.Is(err, context.DeadlineExceeded) || c.TLS == nil {
		return err
	}
	address, ok := strings.CutPrefix(c.Endpoints[0], "https://")
	if !ok {
		return err
	}
	config := c.TLS.Clone()
	config.NextProtos = []string{"h2"}
	connection, refusal := tls.DialWithDialer(&net.Dialer{Timeout: refusalTimeout}, "tcp", address, config)
	if refusal == nil {
		defer connection.Close()
		_ = connection.SetReadDeadline(time.Now().Add(refusalTimeout)) // never fails on an open connection
		_, refusal = connection.Read(make([]byte, 1))                  // who refuses a certificate says so behind the handshake
	}
	var slow net.Error
	if refusal == nil || errors.As(refusal, &slow) && slow.Timeout() {
		return err
	}
	return refusal
}
