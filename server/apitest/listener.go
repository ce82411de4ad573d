package apitest

import (
	"context"
	"crypto/tls"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/deed-project/deed/server"
)

// listener is the port of a server. It opens on demand.
type listener struct {
	once        sync.Once
	url         string
	certificate *tls.Certificate // nil before it is needed
	trusted     []byte
	cancel      context.CancelFunc
	done        chan error
}

// URL returns the address of the server on a port of the loopback interface, with TLS. The first call opens the port. Clients must trust
// the authority in [Server.Kubeconfig].
func (s *Server) URL() string {
	s.tb.Helper()
	s.listener.once.Do(func() {
		if err := s.listener.open(s.Server); err != nil {
			s.tb.Fatal(err)
		}
	})
	return s.listener.url
}

func (l *listener) open(s *server.Server) error {
	if err := l.certify(); err != nil {
		return err
	}
	port, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	l.url, l.cancel, l.done = "https://"+port.Addr().String(), cancel, make(chan error, 1)
	config := &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{*l.certificate}, NextProtos: []string{"h2", "http/1.1"},
	}
	go func() { l.done <- s.Serve(ctx, port, config) }()
	return nil
}

// certify makes the certificate of the server, unless there is one.
func (l *listener) certify() error {
	if l.certificate != nil {
		return nil
	}
	certificate, trusted, err := server.SelfSigned(time.Now(), "localhost", "127.0.0.1")
	if err == nil {
		l.certificate, l.trusted = &certificate, trusted
	}
	return err
}

func (l *listener) close(tb testing.TB) {
	if l.cancel == nil {
		return
	}
	l.cancel()
	if err := <-l.done; err != nil {
		tb.Error(err)
	}
}

// Kubeconfig returns the name of a file, in a directory of the test, with which kubectl and other programs reach the server.
func (s *Server) Kubeconfig() string {
	s.tb.Helper()
	url := s.URL()
	name := filepath.Join(s.tb.TempDir(), "kubeconfig")
	if err := server.WriteKubeconfig(name, server.Kubeconfig(url, s.listener.trusted, "apitest"), false); err != nil {
		s.tb.Fatal(err)
	}
	return name
}
