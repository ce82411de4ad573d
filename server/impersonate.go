package server

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/deed-project/deed/server/wire"
)

const impersonateExtra = "Impersonate-Extra-"

// impersonate returns whom a request is to be carried out for: the user that its headers name, or its sender. The error is a 403 of
// a sender who may not act for others, or a 400 of headers that name no user.
func (s *Server) impersonate(r *http.Request, sender User) (User, error) {
	name := r.Header.Get("Impersonate-User")
	u := User{Name: name, UID: r.Header.Get("Impersonate-Uid"), Groups: r.Header.Values("Impersonate-Group")}
	for header, texts := range r.Header {
		if key, isExtra := strings.CutPrefix(header, impersonateExtra); isExtra {
			if u.Extra == nil {
				u.Extra = map[string][]string{}
			}
			u.Extra[extraKey(key)] = texts
		}
	}
	if name == "" {
		if u.UID != "" || len(u.Groups) > 0 || len(u.Extra) > 0 {
			return u, errors.New("requested impersonation without impersonating a user")
		}
		return sender, nil
	}
	if err := s.mayImpersonate(r, sender, u); err != nil {
		return u, err
	}
	if name != anonymous.Name && !slices.Contains(u.Groups, "system:authenticated") {
		u = authenticated(u)
	}
	return u, nil
}

// extraKey returns the key that a header is about: in small letters, and with what headers cannot hold unescaped.
func extraKey(header string) string {
	key := strings.ToLower(header)
	if unescaped, err := url.PathUnescape(key); err == nil {
		return unescaped
	}
	return key
}

// mayImpersonate refuses to act for a user, and for the member of groups, if the sender may not.
func (s *Server) mayImpersonate(r *http.Request, sender, u User) error {
	actions := []Action{{Verb: "impersonate", Version: "v1", Resource: "users", Name: u.Name}}
	for _, group := range u.Groups {
		actions = append(actions, Action{Verb: "impersonate", Version: "v1", Resource: "groups", Name: group})
	}
	if u.UID != "" {
		actions = append(actions, Action{Verb: "impersonate", Group: "authentication.k8s.io", Version: "v1", Resource: "uids", Name: u.UID})
	}
	for key, texts := range u.Extra {
		for _, text := range texts {
			actions = append(actions, Action{
				Verb: "impersonate", Group: "authentication.k8s.io", Version: "v1", Resource: "userextras", Subresource: key, Name: text,
			})
		}
	}
	r = r.WithContext(withUser(r.Context(), sender))
	for _, a := range actions {
		if err := s.decide(r, a); err != nil {
			return err
		}
	}
	return nil
}

// actingFor is [Server.impersonate] for a handler: it answers a request that is refused, and reports whether it goes on.
func (s *Server) actingFor(w http.ResponseWriter, r *http.Request, sender User) (User, bool) {
	user, err := s.impersonate(r, sender)
	if err != nil {
		s.fail(w, r, wire.Plain, err)
		return user, false
	}
	return user, true
}
