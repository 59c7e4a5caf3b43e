#ifndef SPRING_SCENE_H
#define SPRING_SCENE_H

#include <spring_physics.h>

/* The prefix of each line. Valid until the process exits. */
const char *spring_scene_label(void);

/* Advances the spring by the duration of one frame, in seconds. */
void spring_scene_advance(struct spring *spring, double frame_duration);

#endif
