package envtest

import (
	"context"
	"fmt"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/deed-project/deed/server/apitest"
)

// This file stands in for the start of an environment: the server is in the process.

// lifetime is the test that the server of an environment belongs to: all of the process.
type lifetime struct{ testing.TB }

func (lifetime) Helper()                        {}
func (lifetime) Cleanup(func())                 {}
func (lifetime) Name() string                   { return "process" }
func (lifetime) Context() context.Context       { return context.Background() }
func (lifetime) Logf(format string, a ...any)   { fmt.Printf(format+"\n", a...) }
func (lifetime) Error(a ...any)                 { panic(fmt.Sprint(a...)) }
func (lifetime) Fatal(a ...any)                 { panic(fmt.Sprint(a...)) }
func (lifetime) Fatalf(format string, a ...any) { panic(fmt.Sprintf(format, a...)) }

// Start starts a server, and returns the configuration of its clients.
func (te *Environment) Start() (*rest.Config, error) {
	te.Config = apitest.Start(lifetime{}).RESTConfig()
	return te.Config, nil
}

// Stop leaves the server to the end of the process.
func (te *Environment) Stop() error { return nil }
