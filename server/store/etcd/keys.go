package etcd

import (
	"fmt"
	"path"
	"strings"
)

// Keys says how the keys of a store are called in etcd: what begins with Here in the store begins
// with There in etcd instead. The store has no other keys. The zero Keys leaves them as they are.
type Keys struct{ Here, There string }

// Registry are the keys of an API server, which begin with /registry/, under a prefix of etcd, as
// the flag --etcd-prefix of kube-apiserver means it: slashes around it make no difference.
func Registry(prefix string) Keys {
	there := path.Join("/", prefix)
	if there != "/" {
		there += "/"
	}
	return Keys{Here: "/registry/", There: there}
}

// there returns what a key is called in etcd, and false if the store has no such key.
func (k Keys) there(key string) (string, bool) {
	rest, ok := strings.CutPrefix(key, k.Here)
	return k.There + rest, ok
}

// mustBe is there for a key that is written.
func (k Keys) mustBe(key string) (string, error) {
	there, ok := k.there(key)
	if !ok {
		return "", fmt.Errorf("store: etcd: the key %q does not begin with %q", key, k.Here)
	}
	return there, nil
}

// prefix returns what the keys begin with in etcd that begin with prefix, and false if there are
// none.
func (k Keys) prefix(prefix string) (string, bool) {
	if strings.HasPrefix(k.Here, prefix) {
		return k.There, true
	}
	return k.there(prefix)
}

// here returns what a key of etcd is called in the store.
func (k Keys) here(there string) string { return k.Here + strings.TrimPrefix(there, k.There) }
