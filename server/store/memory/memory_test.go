package memory_test

import (
	"testing"

	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/memory"
	"github.com/deed-project/deed/server/store/storetest"
)

func TestLaws(t *testing.T) {
	storetest.Run(t, storetest.Config{Open: func(testing.TB) store.Store { return memory.New() }, Expires: true})
}
