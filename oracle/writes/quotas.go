package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"

	"github.com/deed-project/deed/oracle/pair"
)

// bounded are names that quotas have, besides those that count the objects of a kind. CLASS stands for a class of storage.
var bounded = []string{
	"pods", "cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory", "requests.ephemeral-storage", "hugepages-2Mi",
	"requests.example.com/gpu", "services", "services.nodeports", "services.loadbalancers", "persistentvolumeclaims", "requests.storage",
	"CLASS.storageclass.storage.k8s.io/requests.storage", "CLASS.storageclass.storage.k8s.io/persistentvolumeclaims", "configmaps", "secrets",
	"replicationcontrollers", "resourcequotas",
}

// scopes are those of quotas that bound pods or claims.
var scopes = []string{
	"Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass", "CrossNamespacePodAffinity", "VolumeAttributesClass",
}

// quota returns a random ResourceQuota for the namespace of a kind, without a status.
func quota(r *rand.Rand, k *kind, name string) map[string]any {
	counted := strings.TrimSuffix("count/"+k.versions[0].Resources[k.name]+"."+groupOf(k.versions[0].Version), ".")
	hard := map[string]any{}
	bound := func(name string) {
		amount := fmt.Sprint(r.IntN(80))
		if strings.Contains(name, "memory") || strings.Contains(name, "storage") && !strings.HasSuffix(name, "claims") || strings.Contains(name, "huge") {
			amount = fmt.Sprint(r.IntN(80), "Gi")
		}
		hard[strings.Replace(name, "CLASS", [...]string{"fast", "slow", "standard"}[r.IntN(3)], 1)] = amount
	}
	if r.IntN(3) > 0 {
		bound(counted)
	}
	for range r.IntN(4) {
		bound(bounded[r.IntN(len(bounded))])
	}
	if plain := k.versions[0].Resources[k.name]; r.IntN(3) == 0 {
		for _, name := range bounded {
			if strings.HasPrefix(name, plain) {
				bound(name)
			}
		}
	}
	spec := map[string]any{"hard": hard}
	if r.IntN(4) == 0 {
		spec["scopes"] = []any{scopes[r.IntN(len(scopes))]}
	}
	if r.IntN(4) == 0 {
		e := map[string]any{"scopeName": scopes[r.IntN(len(scopes))], "operator": "Exists"}
		if r.IntN(2) == 0 {
			e["operator"] = [...]string{"In", "NotIn", "DoesNotExist"}[r.IntN(3)]
		}
		if strings.HasSuffix(e["operator"].(string), "In") {
			e["values"] = []any{"system-node-critical", "x"}
		}
		spec["scopeSelector"] = map[string]any{"matchExpressions": []any{e}}
	}
	return map[string]any{"apiVersion": "v1", "kind": "ResourceQuota", "metadata": map[string]any{"name": name}, "spec": spec}
}

// bind gives the namespaces of the kinds ResourceQuotas, which depend on the seed, with the status that a controller would give them. Now and
// then a bound has no usage yet. No controller counts later, so that usages grow until the quotas refuse what exceeds them.
func (c *campaign) bind(kinds []*kind) error {
	for i, k := range kinds {
		if !strings.HasPrefix(k.namespace, "writes-") {
			continue
		}
		r := rand.New(rand.NewPCG(c.seed, uint64(i)))
		for n := range 1 + r.IntN(3) {
			q := quota(r, k, fmt.Sprint("quota-", n))
			there, here, err := c.both(pair.Request{Method: http.MethodPost, Path: quotasOf(k), Body: q})
			if err == nil && there.answer.Code != here.answer.Code {
				err = fmt.Errorf("%s: %s there, %s here", quotasOf(k), there.answer, here.answer)
			}
			if err != nil {
				return err
			}
			if there.answer.Code != http.StatusCreated { // both refuse it
				continue
			}
			used, hard := map[string]any{}, pair.Get(q, "spec", "hard").(map[string]any)
			for name := range hard {
				if used[name] = "0"; r.IntN(40) == 0 {
					delete(used, name)
				}
			}
			status := map[string]any{"status": map[string]any{"hard": hard, "used": used}}
			path := fmt.Sprint(quotasOf(k), "/quota-", n, "/status")
			there, here, err = c.both(pair.Request{Method: http.MethodPatch, Path: path, ContentType: mergePatch, Body: status})
			if err == nil && (there.answer.Code != http.StatusOK || here.answer.Code != http.StatusOK) {
				err = fmt.Errorf("%s: %s there, %s here", path, there.answer, here.answer)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func quotasOf(k *kind) string { return "/api/v1/namespaces/" + k.namespace + "/resourcequotas" }

// noteQuotas adds the status of the quotas of a kind's namespace to an outcome.
func (c *campaign) noteQuotas(o *outcome, s *pair.Server, k *kind) error {
	if !c.quotas || !strings.HasPrefix(k.namespace, "writes-") {
		return nil
	}
	a, err := s.Send(pair.Request{Method: http.MethodGet, Path: quotasOf(k)})
	if err != nil {
		return err
	}
	o.quotas = map[string]any{}
	items, _ := a.Object["items"].([]any)
	for _, q := range items {
		if name, _ := pair.Get(q, "metadata", "name").(string); strings.HasPrefix(name, "quota-") {
			o.quotas[name] = pair.Get(q, "status")
		}
	}
	return nil
}
