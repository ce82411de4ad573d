package command

import (
	"log/slog"
	"runtime"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/manifest"
)

// rehearsed are a definition and an object of what it defines, with something of what most have.
const rehearsed = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: rehearsals.deed.invalid}
spec:
  group: deed.invalid
  scope: Namespaced
  names: {kind: Rehearsal, plural: rehearsals}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [texts]
            x-kubernetes-validations:
            - {rule: "self.texts.all(text, text != '')", message: texts say something}
            properties:
              number: {type: integer, minimum: 0, default: 1}
              texts: {type: array, maxItems: 9, items: {type: string, maxLength: 9}}
---
apiVersion: deed.invalid/v1
kind: Rehearsal
metadata: {name: one, namespace: default}
spec: {texts: [a]}
`

// rehearse creates the first definition of a process, and the first object of it, on a server without clients. Two thirds of their cost are
// tables that libraries make once, above all the tables of CEL: later definitions need not wait for them. It is for the time in which
// clients connect. With a single core it does nothing, as they would wait for it.
func rehearse() error {
	if runtime.GOMAXPROCS(0) == 1 {
		return nil
	}
	objects, err := manifest.Parse("rehearsal", []byte(rehearsed))
	if err != nil {
		return err
	}
	s, err := server.New(server.Config{Objects: manifest.Values(objects), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	return s.Close()
}
