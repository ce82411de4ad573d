package server

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"

	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/server/controllers/queue"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// authenticationMap is the ConfigMap by which aggregated API servers learn whom to trust.
const (
	authenticationNamespace = "kube-system"
	authenticationMap       = "extension-apiserver-authentication"
)

// authenticationInterval is the time between looks at the ConfigMap, as in kube-apiserver.
const authenticationInterval = time.Minute

// keepAuthentication publishes again what a client changes or deletes: at once if the ConfigMap is gone or new, and else within a minute. What
// a client makes unreadable stays.
func (s *Server) keepAuthentication(c auth.Certificates) {
	if !publishes(c) {
		return
	}
	one := []string{authenticationMap}
	controller := &queue.Controller[string]{
		Name: "the ConfigMap " + authenticationMap, Store: s.reader.Store, Report: s.background.Report,
		Work:     func(ctx context.Context, _ string) error { return s.publishAuthentication(ctx, c) },
		Interval: authenticationInterval, All: func() []string { return one },
		Sources: []queue.Source[string]{{
			Prefix: s.catalog().Lookup("", "configmaps").Key(authenticationNamespace, authenticationMap),
			Items: func(e store.Event) []string {
				if !e.Deleted && e.Previous != nil {
					return nil
				}
				return one
			},
		}},
	}
	s.background.Go(controller.Run)
}

// publishes reports whether the server accepts certificates that others are told of.
func publishes(c auth.Certificates) bool { return len(c.ClientCA) > 0 || len(c.Proxies.CA) > 0 }

// publishAuthentication tells in a ConfigMap which client certificates and headers the server accepts, beside those that other servers on the
// same store wrote there. Without any there is none.
func (s *Server) publishAuthentication(ctx context.Context, c auth.Certificates) error {
	if !publishes(c) {
		return nil
	}
	stored, err := s.accounts.Object(ctx, "configmaps", authenticationNamespace, authenticationMap)
	if err != nil {
		return err
	}
	data := value.Object()
	add := func(name, text string) { data = data.With(name, value.String(text)) }
	was := func(name string) string { return stored.Get("data", name).Str() }
	if text := unitedPEM(was("client-ca-file"), c.ClientCA); text != "" {
		add("client-ca-file", text)
	}
	if text := unitedPEM(was("requestheader-client-ca-file"), c.Proxies.CA); text != "" {
		add("requestheader-client-ca-file", text)
		for name, list := range map[string][]string{
			"requestheader-username-headers": c.Proxies.UsernameHeaders, "requestheader-uid-headers": c.Proxies.UIDHeaders,
			"requestheader-group-headers": c.Proxies.GroupHeaders, "requestheader-extra-headers-prefix": c.Proxies.ExtraHeaderPrefixes,
			"requestheader-allowed-names": c.Proxies.AllowedNames,
		} {
			united, err := unitedList(was(name), list)
			if err != nil {
				return err
			}
			if name != "requestheader-uid-headers" || united != "[]" {
				add(name, united)
			}
		}
	}
	if stored.Get("data").Equal(data) {
		return nil
	}
	const path = "/api/v1/namespaces/" + authenticationNamespace + "/configmaps"
	object := stored.With("data", data)
	if stored.IsAbsent() {
		text := func(name, s string) value.Member { return value.Member{Name: name, Value: value.String(s)} }
		object = value.Object(text("apiVersion", "v1"), text("kind", "ConfigMap"), value.Member{Name: "data", Value: data},
			value.Member{Name: "metadata", Value: value.Object(text("name", authenticationMap), text("namespace", authenticationNamespace))})
		if err := s.client.Send(ctx, http.MethodPost, path, object); !errors.IsAlreadyExists(err) {
			return err
		}
	}
	return s.client.Send(ctx, http.MethodPut, path+"/"+authenticationMap, object)
}

// unitedPEM returns the certificates of two PEM texts, each once.
func unitedPEM(was string, is []byte) string {
	var out bytes.Buffer
	var known [][]byte
	for rest := slices.Concat([]byte(was), []byte("\n"), is); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return out.String()
		}
		if block.Type != "CERTIFICATE" || slices.ContainsFunc(known, func(one []byte) bool { return bytes.Equal(one, block.Bytes) }) {
			continue
		}
		known = append(known, block.Bytes)
		out.Write(pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: block.Bytes}))
	}
}

// unitedList returns the texts of a JSON list and of another list, each once, as a JSON list.
func unitedList(was string, is []string) (string, error) {
	all := []string{}
	if was != "" {
		if err := json.Unmarshal([]byte(was), &all); err != nil {
			return "", err
		}
	}
	for _, one := range is {
		if !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	text, err := json.Marshal(all)
	return string(text), err
}
