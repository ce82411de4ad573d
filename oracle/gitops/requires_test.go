package gitops

// The modules whose tests run in copies: see suite.
import (
	_ "github.com/argoproj/argo-cd/gitops-engine/pkg/diff"
	_ "github.com/fluxcd/pkg/ssa"
	_ "github.com/fluxcd/pkg/ssa/jsondiff"
	_ "github.com/stretchr/testify/mock"
	_ "sigs.k8s.io/controller-runtime/pkg/envtest"
)
