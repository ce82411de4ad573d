package etcd

import (
	"fmt"
	"path"
	"strings"
)

// Where keys lie in etcd. With --etcd-prefix=/deed:
//
//	store   /registry/pods/default/a
//	etcd    /deed/pods/default/a

// Keys maps the keys of a store to keys of etcd: the prefix Here becomes There. The store has no other keys. The zero Keys maps each key to
// itself.
type Keys struct{ Here, There string }

// Registry maps the keys of an API server, which begin with /registry/, below a prefix in etcd. Like the flag --etcd-prefix of
// kube-apiserver, it ignores slashes around the prefix.
func Registry(prefix string) Keys {
	there := path.Join("/", prefix)
	if there != "/" {
		there += "/"
	}
	return Keys{Here: "/registry/", There: there}
}

// there maps a key to etcd. It returns false if the store has no such key.
func (k Keys) there(key string) (string, bool) {
	rest, ok := strings.CutPrefix(key, k.Here)
	return k.There + rest, ok
}

// mustBe maps the key of a write to etcd. It fails if the store has no such key.
func (k Keys) mustBe(key string) (string, error) {
	there, ok := k.there(key)
	if !ok {
		return "", fmt.Errorf("store: etcd: the key %q does not begin with %q", key, k.Here)
	}
	return there, nil
}

// prefix maps a key prefix to etcd. It returns false if no key of the store has the prefix.
//
// A prefix that Here begins with, such as "", contains all keys of the store.
func (k Keys) prefix(prefix string) (string, bool) {
	if strings.HasPrefix(k.Here, prefix) {
		return k.There, true
	}
	return k.there(prefix)
}

// here maps a key of etcd to the store.
func (k Keys) here(there string) string { return k.Here + strings.TrimPrefix(there, k.There) }
