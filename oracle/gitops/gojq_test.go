package gitops

import (
	_ "github.com/itchyny/gojq"
	_ "github.com/argoproj/argo-cd/gitops-engine/pkg/diff"
	_ "github.com/deed-project/deed/kube/gitops"
	_ "github.com/deed-project/deed/server/apitest"
	_ "github.com/fluxcd/pkg/ssa/jsondiff"
	_ "github.com/stretchr/testify/mock"
	_ "sigs.k8s.io/controller-runtime/pkg/envtest"
)
