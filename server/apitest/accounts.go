package apitest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/client-go/rest"
)

// Token returns a token for a service account, which it creates if there is none. The namespace must exist. The token holds for an hour.
func (s *Server) Token(namespace, name string) string {
	s.tb.Helper()
	token, err := s.token(namespace, name)
	if err != nil {
		s.tb.Fatal(err)
	}
	return token
}

// RESTConfigFor is RESTConfig for clients that are a service account; see [Server.Token].
func (s *Server) RESTConfigFor(namespace, name string) *rest.Config {
	s.tb.Helper()
	c := s.RESTConfig()
	c.BearerToken = s.Token(namespace, name)
	return c
}

// errNotFound is the error of post for an account that does not exist.
var errNotFound = errors.New("it does not exist")

// token returns a token for a service account.
func (s *Server) token(namespace, name string) (string, error) {
	accounts := "/api/v1/namespaces/" + namespace + "/serviceaccounts"
	var request authenticationv1.TokenRequest
	err := s.post(accounts+"/"+name+"/token", "{}", &request)
	if errors.Is(err, errNotFound) {
		if err = s.post(accounts, fmt.Sprintf(`{"metadata":{"name":%q}}`, name), &struct{}{}); err == nil {
			err = s.post(accounts+"/"+name+"/token", "{}", &request)
		}
	}
	return request.Status.Token, err
}

// post sends an object as JSON, and decodes the answer.
func (s *Server) post(path, body string, into any) error {
	code, text, err := s.send(http.MethodPost, path, "application/json", []byte(body))
	switch {
	case code == http.StatusNotFound:
		return fmt.Errorf("%w: %w", errNotFound, err)
	case err != nil:
		return err
	}
	return json.Unmarshal(text, into)
}
