from random import Random
from itertools import combinations
import numpy as np
from gsopt.simulation.deciders.loaning.knapsack import choose, left_over
def feasible(sizes, rooms):
    rooms=sorted(rooms)
    sizes=sorted(sizes, reverse=True)
    def go(i, rooms):
        if i==len(sizes): return True
        seen=set()
        for k,r in enumerate(rooms):
            if r>=sizes[i] and r not in seen:
                seen.add(r); x=list(rooms); x[k]-=sizes[i]
                if go(i+1,x): return True
        return False
    return go(0,rooms)
bad=n=0
for seed in range(2500):
    r=Random(seed)
    kinds=r.choice([[1],[2],[1,2],[1,2,4],[1,3],[2,4,8],[1,4],[3,6],[1,2,6]])
    k=r.randint(0,7)
    sizes=[r.choice(kinds) for _ in range(k)]
    scale=r.choice([1,1e-9,1e9])
    gains=[scale*r.choice([0,r.randint(1,5),r.random(),r.randint(1,1000)]) for _ in range(k)]
    rooms=[r.randint(0,8) for _ in range(r.randint(1,4))]
    m=choose(np.array(sizes,dtype=np.int64),np.array(gains,dtype=float),np.array(rooms,dtype=np.int64))
    pick=[i for i in range(k) if m[i]]
    ok=feasible([sizes[i] for i in pick],rooms)
    v=sum(gains[i] for i in pick)
    best=max((sum(gains[i] for i in c) for q in range(k+1) for c in combinations(range(k),q) if feasible([sizes[i] for i in c],rooms)),default=0)
    n+=1
    if not ok or v<best*(1-1e-12): bad+=1; print(seed,sizes,gains,rooms,pick,ok,v,best)
print(n,bad)
